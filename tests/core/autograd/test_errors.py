"""What autograd refuses is recognized by torch's own words, and the way out that is told runs."""

import random
import warnings

import pytest
import torch

from core.autograd import trial
from core.autograd.errors import explain_error, explain_warnings
from core.autograd.graph import Capture, Failure, Node, Saved, TensorInfo
from core.autograd.program import capture_program
from core.autograd.refusals import REFUSALS
from core.expressions import ExpressionError
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.expressions.limits import GRADIENTS
from core.expressions.names import GRADIENT
from tests.core.autograd.made_programs import check_refused, message_of, refused_program


def leaves():
    return {"w": torch.tensor([1.0, 2.0], requires_grad=True), "x": torch.tensor([3.0, 4.0])}


def run(source):
    return evaluate(parse(source, GRADIENT.syntax), leaves(), GRADIENTS, GRADIENT)


@pytest.fixture
def unhurried(monkeypatch):
    """Let a busy machine look for as long as it takes."""
    monkeypatch.setattr(trial, "SECONDS", 60.0)


def failure_of(source):
    """What torch says when the program runs."""
    with pytest.raises(ExpressionError, match="refused") as refused:
        run(source)
    said, line = refused.value.torch_message, refused.value.line
    return Failure(kind="RuntimeError", message=said, line=line)


PROGRAMS = [
    ("b = w.exp()\nb.add_(1)\nb.sum().backward()", "version", 2, "b = b + 1"),
    ("b = w.exp()\nb += 1\nb.sum().backward()", "version", 2, "b = b + 1"),
    (
        "b = w.sigmoid()\nc = b * 1\nb.zero_()\n(b + c).sum().backward()",
        "version",
        3,
        "b = torch.zeros_like(b)",
    ),
    (
        "b = w.sigmoid()\nc = b * 1\nb.copy_(x)\n(b + c).sum().backward()",
        "version",
        3,
        "b = x.clone()",
    ),
    (
        "b = w.sigmoid()\nc = b * 1\nb.fill_(3)\n(b + c).sum().backward()",
        "version",
        3,
        "b = torch.full_like(b, 3)",
    ),
    ("b = w * 2\nc = b * b\nb[0] = 1\nc.sum().backward()", "version", 3, "b = b.clone()\nb[0] = 1"),
    (
        "y = (w * w).sum()\nwith torch.no_grad():\n    w -= 0.1\ny.backward()",
        "version",
        3,
        "y.backward()\nwith torch.no_grad():\n    w -= 0.1",
    ),
    ("y = w * x\ny.backward()", "not_scalar", 2, "y.sum().backward()"),
    (
        "y = (w ** 2).sum()\ny.backward()\ny.backward()",
        "second_backward",
        3,
        "y.backward(retain_graph=True)\ny.backward()",
    ),
    ("w.add_(1)\n(w * x).sum().backward()", "leaf_in_place", 1, "w = w + 1"),
    ("w[0] = 2\n(w * x).sum().backward()", "leaf_in_place", 1, "w = w.clone()\nw[0] = 2"),
    (
        "(w * x).sum().backward()\nw -= 0.1 * w.grad",
        "leaf_in_place",
        2,
        "with torch.no_grad():\n    w -= 0.1 * w.grad",
    ),
    ("y = w * 1\na, b = y.chunk(2)\na.mul_(2)", "view_in_place", 3, "a = a * 2"),
    ("with torch.no_grad():\n    v = w[:1]\nv.mul_(2)", "view_in_place", 3, "v = v * 2"),
    ("with torch.inference_mode():\n    z = x * 2\ny = w * z", "inference", 3, "torch.no_grad()"),
    ("with torch.inference_mode():\n    z = x * 2\nz.add_(1)", "inference", 3, "torch.no_grad()"),
    (
        "with torch.inference_mode():\n    z = x * 2\nz.requires_grad_()",
        "inference",
        3,
        "torch.no_grad()",
    ),
    ("w.numpy()", "numpy", 1, "w.detach().numpy()"),
    ("y = (x * x).sum()\ny.backward()", "no_graph", 2, "x.requires_grad_()"),
    ("y = w.detach() * 2\ny.sum().backward()", "no_graph", 2, "y = w * 2"),
    ("with torch.no_grad():\n    y = w * 2\ny.sum().backward()", "no_graph", 3, "y = w * 2\ny.sum"),
    ("y = w * x\ny.backward(torch.ones(3))", "gradient_shape", 2, ""),
    ("torch.arange(3).requires_grad_()", "integer", 1, ""),
    ("(w * x).requires_grad_(False)", "not_leaf", 1, ""),
    ("x.retain_grad()", "no_gradient_kept", 1, ""),
    ("F.cross_entropy(w, torch.tensor([0, 1]))", "class_target", 1, ""),
    ("F.cross_entropy(torch.cat([w, x]), torch.tensor([0, 1]))", "class_target", 1, ""),
    ("w.view(5)", "other", 1, ""),
]


@pytest.mark.parametrize(("source", "kind", "line", "rewrite"), PROGRAMS)
def test_a_refusal_is_told_with_its_line_and_the_rewritten_program_runs(
    source, kind, line, rewrite
):
    capture = Capture(error=failure_of(source))
    explained = explain_error(capture, source, leaves())
    assert (explained.kind, explained.line) == (kind, line)
    assert explained.what == source.split("\n")[line - 1].strip()
    assert rewrite in explained.rewrite
    assert bool(explained.rewrite) == bool(rewrite)
    if rewrite:
        run(explained.rewrite)


def test_a_rewrite_gives_the_gradient_that_was_meant():
    for source, wanted in [
        ("b = w.exp()\nb.add_(1)\nb.sum().backward()", torch.exp),
        ("y = (w ** 2).sum()\ny.backward()\ny.backward()", lambda w: 4 * w),
        (
            "b = w.sigmoid()\nb.mul_(2)\nb.sum().backward()",
            lambda w: 2 * w.sigmoid() * (-w).sigmoid(),
        ),
    ]:
        explained = explain_error(failure_of(source), source, leaves())
        w = run(explained.rewrite).variables["w"]
        torch.testing.assert_close(w.grad, wanted(w.detach()), msg=source)


def conflict():
    """A capture of `b = w.exp(); b.add_(1)`, as torch runs it, with the versions that it tells."""
    source = "b = w.exp()\nb.add_(1)\nb.sum().backward()"
    w = leaves()["w"]
    b = w.exp()
    then = b._version
    b.add_(1)
    info = TensorInfo(shape=(2,), dtype="float32", num_bytes=8)
    saved = Saved(
        name="result",
        tensor=info,
        storage="s1",
        storage_bytes=8,
        version_saved=then,
        version_now=b._version,
    )
    nodes = (
        Node(id="n0", type="AccumulateGrad", label="w", leaf="w"),
        Node(
            id="n1", type="ExpBackward0", label="w.exp()", operation="exp", line=1, saved=(saved,)
        ),
        Node(id="n2", type="AddBackward0", label="b.add_(1)", operation="add_", line=2),
    )
    return source, Capture(nodes=nodes, error=failure_of(source)), saved


def test_a_version_conflict_names_the_saved_tensor_its_node_and_the_write():
    source, capture, saved = conflict()
    explained = explain_error(capture, source, leaves())
    assert explained.saved is saved
    assert (explained.node, explained.what, explained.line) == ("n1", "b.add_(1)", 2)
    for words in ("`w.exp()` (ExpBackward0)", "“result”", "version 0", "version 1", "line 2"):
        assert words in explained.sentence


def test_without_time_no_write_is_blamed_and_nothing_is_proposed(monkeypatch):
    monkeypatch.setattr(trial, "SECONDS", 0.0)
    source, capture, saved = conflict()
    explained = explain_error(capture, source, leaves())
    assert (explained.saved, explained.writes, explained.rewrite) == (saved, (), "")


def test_a_failure_alone_tells_the_versions_of_torchs_message():
    explained = explain_error(conflict()[1].error)
    assert "version 0" in explained.sentence
    assert "version 1" in explained.sentence
    assert explained.saved is None


def test_operands_on_two_devices_are_recognized():
    with pytest.raises(RuntimeError, match="device") as refused:
        torch.ones(2) + torch.ones(2, device="meta")
    failure = Failure(kind="RuntimeError", message=str(refused.value), line=1)
    assert explain_error(failure, "w + x").kind == "device"


def test_reading_the_gradient_of_what_is_no_leaf_is_explained_and_rewritten():
    source = "y = w * x\ny.sum().backward()\ng = y.grad"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert run(source).variables["g"] is None
    text = str(told[0].message)
    capture = Capture(warnings=(text, "something else", text))
    explained, other = explain_warnings(capture, source, leaves())
    assert explained.kind == "grad_of_no_leaf"
    assert run(explained.rewrite).variables["g"].tolist() == [1, 1]
    assert (other.kind, other.torch_message, other.rewrite) == ("other", "something else", "")


def test_what_torch_warns_of_in_a_program_is_told_once_and_in_its_words():
    for source, kind, words in [
        ("loss = F.mse_loss(w, x.view(2, 1))", "sizes", "Using a target size (torch.Size([2, 1]))"),
        ("y = (w ** 3).sum()\ny.backward(create_graph=True)", "create_graph", "reference cycle"),
        ("y = w * x\ny.sum().backward()\ng = y.grad", "grad_of_no_leaf", "not a leaf Tensor"),
        ("y = w[0:1].std()", "other", "degrees of freedom"),
    ] * 2:  # torch itself gives some only once in the life of a process
        capture = capture_program(source, leaves())
        (told,) = explain_warnings(capture, source, leaves())
        assert (told.kind, capture.error) == (kind, None), source
        assert words in told.torch_message, source
        assert "Triggered internally" not in told.torch_message, source


def test_every_row_is_met_by_a_program():
    met = {kind for _source, kind, _line, _rewrite in PROGRAMS}
    of_warnings = {"grad_of_no_leaf", "sizes", "create_graph"}
    assert {row.kind for row in REFUSALS} - met == {"device", *of_warnings}


def test_what_is_refused_here_is_not_laid_to_torch():
    for source, words in [
        ("y = torch.expand(w, 2)", "torch.expand is not supported here. Write x.expand"),
        ("y = (lambda a: a)(w)", "lambda"),
        ("y = torch.autograd.grad(w.sum(), w)", "Call y.backward() and read x.grad"),
        ("y = torch.tensor([inf])", "Write torch.inf"),
        ("y = torch.meen(w)", "Did you mean torch.mean"),
    ]:
        explained = explain_error(capture_program(source, leaves()), source, leaves())
        assert (explained.kind, explained.torch_message) == ("not_here", ""), source
        assert words in explained.sentence, source


def test_a_vector_at_the_end_is_summed_where_nobody_called_backward():
    for source, end in [
        ("y = w * x", "y.sum().backward()"),
        ("w * x", "(w * x).sum().backward()"),
        ("w.exp()", "w.exp().sum().backward()"),
        ("with torch.no_grad():\n    z = x * 2\nw * z", "(w * z).sum().backward()"),
    ]:
        explained = explain_error(capture_program(source, leaves()), source, leaves())
        assert explained.kind == "not_scalar", source
        assert explained.rewrite.endswith(end), source
        assert message_of(explained.rewrite, **leaves()) == "", source


def test_only_writes_after_the_saving_are_blamed_and_every_one_of_them():
    """Programs with the lines of the writes that must go, read off by hand."""
    for source, lines in [
        ("u = 2 * w\ne = u.exp()\nu[0] = 6\ne[0] = 6\ne.sum().backward()", [4]),
        ("u = 2 * w\ne = u.sigmoid()\nu.add_(1)\ne.mul_(2)\ne.sum().backward()", [4]),
        ("u = 2 * w\ne = u.relu()\nu *= 3\ne += 1\ne.sum().backward()", [4]),
        ("u = 2 * w\ne = u.tanh()\ne[0] = 1\ne += 1\ne.sum().backward()", [3, 4]),
        ("u = 2 * w\nc = u * u\nu.add_(1)\nv = c.exp()\nc[0] = 1\nv.sum().backward()", [3]),
        ("e = w.exp()\nv = e[0]\nv.add_(1)\ne.sum().backward()", [3]),
        ("e = w.exp()\ne.detach().zero_()\ne.sum().backward()", [2]),
        ("e = w.exp()\ne.data.zero_()\nf = e.exp()\nf += 1\nf.sum().backward()", [4]),
        ("v = w * w\nz = 2 * w\nz[0:1].mul_(v[0:1])\nv.add_(1)\nz.sum().backward()", [4]),
        ("y = x * 1\ny *= w\na = y.exp()\na *= 2\na.sum().backward()", [4]),
    ]:
        explained = explain_error(failure_of(source), source, leaves())
        assert [each.span.line for each in explained.writes] == lines, source
        assert explained.line == lines[0]
        assert explained.what in source.split("\n")[lines[0] - 1]
        if "data" not in source:
            assert message_of(explained.rewrite, **leaves()) == "", source


@pytest.mark.usefixtures("unhurried")
def test_the_writes_that_are_blamed_are_a_smallest_set_and_every_rewrite_runs_in_torch_itself():
    dice = random.Random(7)  # noqa: S311  no secret
    check_refused(refused_program(dice) for _turn in range(30))


@pytest.mark.parametrize("source", ["((", "y = w +", "\x00", "  w.add_(1)", "(" * 300])
def test_a_program_that_is_no_python_is_explained_without_a_rewrite(source):
    found = capture_program(source, {"w": torch.tensor(1.0, requires_grad=True)})
    told = explain_error(found, source)
    assert told is not None
    assert (told.what, told.rewrite) == ("", "")
    assert told.line == found.error.line
