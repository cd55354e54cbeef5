"""Which variables a program changes, compared with the same program run by Python itself."""

import re

import pytest
import torch

from core.tensors.examples import WRITE_PRESETS, counted
from core.tensors.writes import run_writes


def run(source, shape=(2, 3)):
    return run_writes(source, lambda: {"x": counted(shape)})


@pytest.mark.parametrize("preset", WRITE_PRESETS.values(), ids=WRITE_PRESETS)
def test_every_example_leaves_what_python_leaves(preset):
    written = run(preset.source, preset.shape)

    names = {"torch": torch, "x": counted(preset.shape)}
    for line in preset.source.split("\n"):
        if line == written.refused:
            with pytest.raises(RuntimeError, match=re.escape(written.trace.error.torch_message)):
                exec(line, names)  # noqa: S102  our own programs
        else:
            exec(line, names)  # noqa: S102
    assert {each.name for each in written.variables} == names.keys() - {"torch", "__builtins__"}
    for each in written.variables:
        assert each.after == names[each.name].tolist(), each.name


def test_a_write_into_a_transpose_changes_both_names_at_one_address():
    written = run("y = x.t()\ny[0, 1] = 100")
    assert written.names == (("x", "y"), ())
    assert written.changed == {"S0": (3,)}
    assert [each.changed for each in written.variables] == [(3,), (1,)]
    assert written.first_index == (0, 1)
    assert (written.before, written.writing) == ("y = x.t()", "y[0, 1] = 100")


def test_a_write_into_a_copy_changes_the_copy_alone():
    written = run("y = x[:, [0, 2]]\ny[0, 1] = 100")
    assert written.names == (("y",), ("x",))
    assert {each.name: each.tensor.storage for each in written.variables} == {"x": "S0", "y": "S1"}


def test_a_write_through_stride_0_is_refused_and_nothing_changes():
    written = run("y = x.expand(2, 3)\ny.add_(1)", (2, 1))
    assert "refers to a single memory location" in written.trace.error.torch_message
    assert (written.names, written.changed) == (((), ("x", "y")), {})
    assert (written.writing, written.refused) == ("", "y.add_(1)")


def test_windows_that_overlap_are_written_silently_and_wrongly():
    written = run("y = x.unfold(0, 3, 1)\ny.add_(1)", (7,))
    (x, _y) = written.variables
    assert x.after == [1, 3, 5, 6, 7, 7, 7]
    assert [(each.num_elements, each.num_addresses) for each in written.overlaps] == [(15, 7)]


def test_what_was_written_before_a_refusal_in_the_same_line_counts():
    written = run("y = x.add_(1).view(7)")
    assert written.trace.error is not None
    assert written.names == (("x",), ())
    assert written.changed == {"S0": tuple(range(6))}


def test_the_last_write_alone_is_told_and_nan_is_no_change():
    written = run("y = x.clone(); y[0] = 7; x[x > 4] = 0")
    assert (written.names, written.changed) == ((("x",), ("y",)), {"S0": (5,)})
    assert run("x[0, 0] = 100\nx[1, 1] = 50").changed == {"S0": (4,)}
    unchanged = run("x[0, 0] = 100\nx[1, 1] = 4")
    assert (unchanged.names, unchanged.changed) == (((), ("x",)), {})
    undone = run("x[0, 0] = 1\nx[0, 0] = 0")
    assert (undone.names, undone.changed) == ((("x",), ()), {"S0": (0,)})
    assert run("x.mul_(1)").names == ((), ("x",))
    nan = run_writes("x.add_(1)", lambda: {"x": torch.tensor([float("nan"), 1.0])})
    assert nan.variables[0].changed == (1,)


@pytest.mark.parametrize("source", ["", "y = (", "y = x.t()", "open('/etc/passwd')", "3"])
def test_a_program_that_writes_nothing_has_no_writes(source):
    written = run(source)
    assert (written.writes, written.changed, written.names[0]) == ((), {}, ())
    assert written.first_index == ()


@pytest.mark.parametrize(
    "source",
    ["x += 1", "x[0, 0] -= 5", "x[[0, 0]] *= 2", "y = x.t()\ny /= 4", "y = x[1]\ny[:1] += y[1:2]",
     "k = 1\nk += 2\nx[0] = k", "x.data += 1", "a = [0]\nx[a] = 5",
     "x = [1]\ny = torch.zeros(3)\ny[0] = 1"],
)  # fmt: skip
def test_names_and_augmented_assignments_leave_what_python_leaves(source):
    names = {"torch": torch, "x": counted((2, 3))}
    exec(source, names)  # noqa: S102  our own programs
    written = run(source)
    assert written.trace.error is None
    assert written.names[0] == tuple(each.name for each in written.variables)
    for each in written.variables:
        assert each.after == names[each.name].tolist(), each.name


def test_an_augmented_assignment_that_torch_refuses_is_told_in_its_words():
    assert (
        "single memory location"
        in run("y = x.expand(2, 3)\ny += 1", (2, 1)).trace.error.torch_message
    )
    assert "can't be cast" in run("x = x.long()\nx += 1.5").trace.error.torch_message
    assert "x += 1" in run("x.T += 1").trace.error.message


def test_a_program_of_the_greatest_length_and_a_write_of_many_elements_are_told():
    names = ";".join(f"abcdefghijk{n}=1" for n in range(10, 34))
    written = run(";".join(["x[0,0]=1"] * 12) + f";{names};x")
    assert (written.trace.error, len(written.writes)) == (None, 12)
    assert "at most 65,536" in run("y = torch.zeros(512, 512)\ny[0] = 1").trace.error.message


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a = torch.tensor([2.0]).expand(1, 3)\na.mul_(2)", "more than one element of the written"),
        ("a = torch.arange(27.0).view(9, 3)\na -= a[:1]", "some elements of the input tensor"),
    ],
)
def test_a_write_over_memory_that_overlaps_is_refused_in_the_words_of_torch(source, words):
    with pytest.raises(RuntimeError, match=words) as own:
        exec(source, {"torch": torch})  # noqa: S102  the oracle
    error = run(source).trace.error
    assert error.torch_message == str(own.value)
    assert error.line == 2


def test_each_operation_in_place_leaves_what_torch_leaves():
    for line in ("x **= 2", "x %= 4", "x //= 2", "x.clamp_(1, 3)", "x.add_(x, alpha=2).sqrt_()"):
        names = {"x": counted((2, 3))}
        exec(line, names)  # noqa: S102  the oracle
        written = run(f"y = x.t()\n{line}")
        assert written.variables[0].after == names["x"].tolist(), line
        assert written.names[0] == ("x", "y"), line


def test_float8_and_unsigned_numbers_are_written_too():
    for dtype in ("float8_e4m3fn", "float8_e5m2", "uint16", "uint64", "complex128"):
        written = run(f"y = x.to(torch.{dtype})\ny.fill_(1)\nprint(y.dtype)")
        assert not written.trace.error, dtype
        assert written.trace.printed == (f"torch.{dtype}",)
        assert written.num_addresses == 5, dtype
