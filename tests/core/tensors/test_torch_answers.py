"""Operands stretched by torch: views by expand, copies by repeat."""

import pytest

from core.tensors.broadcasting import broadcast
from core.tensors.torch_answers import run_stretch, stretch_calls


def case(**shapes):
    return broadcast(shapes, 4)


def test_expand_is_a_view_with_the_strides_that_the_rules_predict():
    table = case(a=(3, 1), b=(1, 4))
    steps = run_stretch(table, "expand", "float32").steps
    assert [step.kind for step in steps] == ["view", "view"]
    strides = [step.outputs[0].layout.stride for step in steps]
    assert strides == [each.read.stride for each in table.operands] == [(1, 0), (0, 1)]


def test_repeat_writes_every_element():
    first, second = run_stretch(case(a=(3, 1), b=(4,)), "repeat", "bfloat16").steps
    assert (first.text, second.text) == ("a.repeat(1, 4)", "b.repeat(3, 1)")
    assert first.bytes_copied == second.bytes_copied == 2 * 12


def test_huge_operands_cost_nothing():
    (step,) = run_stretch(case(a=(1, 1, 4096), b=(64, 4096, 4096)), "repeat", "float32").steps
    assert step.bytes_copied == 4 * 64 * 4096**2


def test_only_what_stretches_is_called_and_the_first_if_nothing_does():
    assert stretch_calls(case(a=(2, 3), b=(3,)), "expand") == (("b", "b.expand(2, 3)"),)
    assert stretch_calls(case(a=(2, 3), b=(2, 3)), "repeat") == (("a", "a.repeat(1, 1)"),)
    assert len(run_stretch(case(a=(3, 1), b=(1, 4)), "expand", "float32", 1).steps) == 1


@pytest.mark.parametrize("shape", [(), (1,), (0,), (1, 0)])
def test_odd_shapes_run(shape):
    for how in ("expand", "repeat"):
        ran = run_stretch(case(a=shape, b=()), how, "float32")
        assert ran.error is None, (shape, how)


def test_shapes_that_do_not_go_together_are_not_stretched():
    with pytest.raises(ValueError, match=r"\(3,\) and \(4,\)"):
        stretch_calls(case(a=(3,), b=(4,)), "expand")
