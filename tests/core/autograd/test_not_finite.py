"""The first NaN or infinity is found where it is made, and a leak through a selection is closed."""

import pytest
import torch

from core.autograd.capture import capture
from core.autograd.not_finite import explain_not_finite
from core.autograd.program import capture_program
from tests.core.autograd.made_programs import message_of

# program, x, what the first is, who makes it (backward: in its backward pass), its slope at x
LEAKS = [
    ("y = torch.where(x > 0, torch.sqrt(x), 0)", [0.0, 4.0], "NaN", "pass of `torch.sqrt(x)`",
     [0, 0.25]),
    ("y = torch.where(x > 0, x.sqrt(), 0)", [-1.0, 0.0, 4.0], "NaN", "`x.sqrt()`", [0, 0, 0.25]),
    ("y = torch.where(x < 1, x.exp(), 0)", [0.0, 100.0], "∞", "`x.exp()`", [1, 0]),
    ("y = torch.where(x > 0, x.log(), 0)", [0.0, 2.0], "∞", "`x.log()`", [0, 0.5]),
    ("y = torch.where(x != 0, 1 / x, 0)", [0.0, 1.0], "∞", "`1 / x`", [0, -1]),
    ("y = torch.where(x == 0, 0, x / x.abs())", [0.0, 1.0], "NaN", "`x / x.abs()`", [0, 0]),
    ("z = x.sqrt()\nm = x > 0\ny = torch.where(m, z, 0)", [0.0, 1.0], "NaN", "x.sqrt()", [0, 0.5]),
    ("y = x.sqrt().where(x > 0, 0)", [0.0, 1.0], "NaN", "`x.sqrt()`", [0, 0.5]),
    ("y = x.sqrt().masked_fill(x <= 0, 0)", [0.0, 1.0], "NaN", "`x.sqrt()`", [0, 0.5]),
    ("y = torch.where(x > 0, (2 * x) ** 0.5, 0)", [0.0, 2.0], "NaN", "`(2 * x) ** 0.5`", [0, 0.5]),
]  # fmt: skip


def explained(program, x):
    source = f"{program}\ny.sum().backward()"
    leaves = {"x": torch.tensor(x, requires_grad=True)}
    return explain_not_finite(capture_program(source, leaves), source, leaves)


def test_a_branch_that_is_not_taken_is_found_and_the_rewrite_gives_the_slope_that_was_meant():
    for program, x, what, maker, slope in LEAKS:
        told = explained(program, x)
        assert f"makes the first {what}." in told.sentence, program
        assert maker in told.sentence, program
        assert "0 times a derivative" in told.advice, program
        again = torch.tensor(x, requires_grad=True)
        assert message_of(told.rewrite, x=again) == "", program
        assert again.grad.tolist() == pytest.approx(slope), (program, told.rewrite)


def test_the_first_is_found_where_nothing_is_selected_and_nothing_is_proposed():
    for program, x, words in [
        ("y = x.log()", [0.0, 1.0], "`x.log()` (line 1) makes the first ∞"),
        ("z = 2 * x\ny = z / x", [0.0, 1.0], "`z / x` (line 2) makes the first NaN"),
        ("y = x ** 0.5", [0.0, 1.0], "The backward pass of `x ** 0.5` (line 1) makes the first ∞"),
        (
            "y = x.sqrt() * 0",
            [0.0, 1.0],
            "The backward pass of `x.sqrt()` (line 1) makes the first NaN",
        ),
        ("y = x.masked_fill(x < 9, -torch.inf).softmax(0)", [0.0, 1.0], "softmax(0)` (line 1)"),
    ]:
        told = explained(program, x)
        assert words in told.sentence, program
        assert told.rewrite == "", program


def test_what_makes_the_result_itself_nan_or_infinite_is_no_leak_of_a_gradient():
    for program, x in [("y = (x / x.norm())[0]", [0.0, 0.0]), ("y = (1 + x.exp()).log()", [100.0])]:
        assert "clamp()" in explained(program, x).advice, program


def test_without_a_program_there_is_no_line():
    told = explain_not_finite(
        capture(lambda x: x.log(), {"x": torch.tensor(-1.0).requires_grad_()})
    )
    assert "`log` makes the first NaN" in told.sentence


def test_what_is_finite_in_the_end_or_was_handed_in_is_nobodys_fault():
    for program, x in [
        ("y = x ** 2", [0.0, 1.0]),
        ("y = (x + torch.tensor([0.0, -torch.inf])).softmax(0)", [0.0, 1.0]),
        ("y = 2 * x", [0.0, torch.inf]),
        ("y = x * torch.inf", [1.0, 2.0]),
    ]:
        assert explained(program, x) is None, program


def test_the_selection_is_named_though_the_program_prints_its_gradient():
    source = "torch.where(x > 0, torch.sqrt(x), x).sum().backward()\nprint(x.grad)"
    leaves = {"x": torch.tensor([-1.0, -4.0], requires_grad=True)}
    capture = capture_program(source, leaves)
    told = explain_not_finite(capture, source, leaves)
    assert capture.printed == ("tensor([nan, nan])",)
    assert "`torch.where(x > 0, torch.sqrt(x), x)` does not take this value" in told.advice
    again = torch.tensor([-1.0, -4.0], requires_grad=True)
    exec(told.rewrite, {"torch": torch, "x": again})  # noqa: S102  our own text
    assert again.grad.tolist() == [1, 1]
