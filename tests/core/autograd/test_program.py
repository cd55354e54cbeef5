"""A reader's program captured: line numbers, several backward passes, writes, errors, limits."""

import math

import pytest
import torch

from core.autograd.differences import finite_differences
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program, function_of
from core.expressions import ExpressionError
from tests.core.autograd.agreement import check


def leaf(values, *, requires_grad=True):
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def captured(source, **leaves):
    return capture_program(source, leaves)


def test_nodes_bear_the_line_and_the_words_of_the_program():
    found = captured("a = w * x\nb = a + 1\nc = b ** 2", w=leaf(2.0), x=leaf(3.0))
    told = {node.type: (node.line, node.label) for node in found.nodes if not node.leaf}
    assert told == {
        "MulBackward0": (1, "w * x"),
        "AddBackward0": (2, "a + 1"),
        "PowBackward0": (3, "b ** 2"),
    }


def test_an_operation_that_was_refused_gives_its_name_to_nothing():
    """Of a vector times a matrix that do not fit, torch has made a row of the vector before."""
    found = captured("c = b * 2\nc @ W", b=leaf([1.0, 2.0, 3.0]), W=leaf([[1.0, 2.0], [3.0, 4.0]]))
    assert found.error.line == 2
    assert [node.label for node in found.nodes if not node.leaf] == ["b * 2", "unsqueeze"]
    fits = captured("c = b * 2\nc @ W", b=leaf([1.0, 2.0]), W=leaf([[1.0, 2.0], [3.0, 4.0]]))
    assert "c @ W" in [node.label for node in fits.nodes]


def test_a_write_that_autograd_does_not_see_gives_its_name_to_nothing():
    found = captured("y = w.sqrt()\nwith torch.no_grad():\n    y.mul_(2)\nz = y * 3", w=leaf(4.0))
    assert [node.label for node in found.nodes] == ["w", "w.sqrt()", "y * 3"]


def test_without_backward_it_is_called_on_the_last_value():
    with_call = captured("y = w ** 2\ny.backward()", w=leaf(3.0))
    without = captured("y = w ** 2", w=leaf(3.0))
    check(without)
    assert without.leaves["w"].gradient == with_call.leaves["w"].gradient == 6.0


def test_a_value_that_no_gradient_reaches_has_no_backward_and_no_error():
    found = captured("y = x * 2", x=leaf(3.0, requires_grad=False))
    assert found.error is None
    assert (found.nodes, found.root, found.order) == ((), "", ())
    assert found.result.nested == 6.0


def test_three_backward_passes_are_numbered_and_add_up():
    preset = PRESETS["accumulate"]
    found = capture_program(preset.source, preset.tensors())
    added = [event for event in found.events if event.kind == "accumulate"]
    assert [event.backward for event in added] == [0, 1, 2]
    assert [event.after.nested for event in added] == [4.0, 8.0, 12.0]
    assert added[0].before is None
    last = [node.id for node in found.nodes if node.line == 5] + [found.leaves["x"].node]
    assert list(found.order) == last, "only nodes of the last backward"


def test_a_reset_and_an_update_tell_what_they_changed():
    preset = PRESETS["step"]
    found = capture_program(preset.source, preset.tensors())
    (update,) = [event for event in found.events if event.kind == "update"]
    (reset,) = [event for event in found.events if event.kind == "reset"]
    gradient = -26 / 3
    assert update.before.nested == [0.5]
    assert update.after.nested == [pytest.approx(0.5 - 0.1 * gradient)]
    assert reset.before.nested == [pytest.approx(gradient)]
    assert reset.after is None


def test_a_leaf_that_the_program_makes_has_its_name_there():
    preset = PRESETS["leaf_in_no_grad"]
    found = capture_program(preset.source, preset.tensors())
    assert found.leaves["w"].requires_grad
    assert found.leaves["w"].gradient == [2, 2, 2]
    assert not found.leaves["x"].requires_grad


@pytest.mark.parametrize("key", [key for key, row in PRESETS.items() if row.refusal])
def test_a_refused_example_tells_torchs_words_and_keeps_what_ran(key):
    preset = PRESETS[key]
    names = {"torch": torch, **preset.tensors()}
    found = capture_program(preset.source, preset.tensors())
    with pytest.raises(RuntimeError) as torchs:
        exec(preset.source, names)  # noqa: S102  the oracle; our own texts
    assert found.error.message.split("\n")[0] == str(torchs.value).split("\n")[0]
    assert found.error.line in range(1, preset.source.count("\n") + 2)


def test_tensors_of_the_reader_are_not_changed():
    w = leaf([1.0, 2.0])
    w.grad = torch.full_like(w, 5.0)
    found = captured("(w * w).sum().backward()\nwith torch.no_grad():\n    w -= w.grad", w=w)
    assert found.error is None
    assert w.tolist() == [1.0, 2.0]
    assert w.grad.tolist() == [5.0, 5.0]


def test_a_program_as_a_function_gives_what_backward_is_first_called_on():
    function = function_of("y = x ** 2\ny.backward()\nz = y * 100")
    assert function(x=torch.tensor(3.0, requires_grad=True)) == 9.0
    assert function_of("y = x ** 2\ny + 1")(x=torch.tensor(3.0)) == 10.0


def test_a_program_as_a_function_writes_into_no_gradient():
    x = torch.tensor(3.0, requires_grad=True)
    function_of("y = x.sin()\ny.backward()")(x=x).backward()
    assert float(x.grad) == pytest.approx(math.cos(3.0))


def test_a_program_as_a_function_is_refused_as_the_program_is():
    with pytest.raises(ExpressionError, match="nothing is not defined"):
        function_of("nothing * 2")(x=torch.tensor(1.0))
    with pytest.raises(ValueError, match="gives no tensor"):
        function_of("x.shape")(x=torch.tensor(1.0))


def test_what_a_write_keeps_is_known_also_where_it_is_overwritten_later():
    source = (
        "z = x.clone()\nz[0:2].mul_(w)\nwith torch.no_grad():\n    w.mul_(2)\nz.sum().backward()"
    )
    found = captured(source, x=leaf([1.0, 2.0, 3.0]), w=leaf([5.0, 7.0]))
    assert "modified by an inplace operation" in found.error.message
    assert max(event.saved_bytes for event in found.events) == 2 * 8
    (node,) = [node for node in found.nodes if node.type == "CopySlices"]
    assert [(each.kind, each.version_now) for each in node.saved] == [
        ("activation", 0),
        ("input", 1),
    ]


def test_a_gradient_handed_to_backward_weighs_what_is_checked():
    """By hand: the slopes of 3 x1^2 + 5 x2^2 at (1, 2) are 6 and 20."""
    source = "y = x ** 2\ny.backward(torch.tensor([3.0, 5.0]))\nx.grad.zero_()"
    found = finite_differences(function_of(source, is_weighted=True), {"x": leaf([1.0, 2.0])})["x"]
    assert found.gradient == (6, 20)
    assert found.agrees
    assert function_of(source)(x=leaf([1.0, 2.0])).tolist() == [1, 4]


def test_of_a_layer_as_wide_as_gpt2_the_sum_of_its_weights_is_saved_and_no_values_are_kept():
    layer = "acts = acts @ (linear + u @ v)"
    source = (
        "torch.manual_seed(0)\nlinear = torch.randn(768, 768)\n"
        "u = torch.randn(768, 3, requires_grad=True)\nv = torch.randn(3, 768, requires_grad=True)\n"
        f"acts = torch.randn(10, 768)\n{layer}\n{layer}\n{layer}\nacts.sum().backward()"
    )
    found = captured(source)
    assert (found.error, found.limits_hit) == (None, ())
    kept = [each for node in found.nodes for each in node.saved if each.tensor.shape == (768, 768)]
    assert {each.storage_bytes for each in kept} == {768 * 768 * 4}
    assert len({each.storage for each in kept}) == 2  # the first layer's input takes no gradient
    assert all(each.tensor.values is None and each.tensor.statistics for each in kept)
    names = {"torch": torch}
    exec(source, names)  # noqa: S102  the oracle
    grad = found.leaves["u"].grad
    assert math.isclose(grad.statistics.norm, names["u"].grad.norm(), rel_tol=1e-5)
