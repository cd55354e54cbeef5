"""Programs changed: what stays, what is replaced, and nothing where nothing is known."""

import pytest

from core.autograd import rewrites


@pytest.mark.parametrize(
    ("source", "line", "rewritten"),
    [
        ("b.add_(1)", 1, "b = b + 1"),
        ("b.sub_(x)", 1, "b = b - x"),
        ("b.mul_(x + 1)", 1, "b = b * (x + 1)"),
        ("b /= x", 1, "b = b / x"),
        ("b.zero_()", 1, "b = torch.zeros_like(b)"),
        ("b.fill_(2)", 1, "b = torch.full_like(b, 2)"),
        ("b[1:] = x", 1, "b = b.clone()\nb[1:] = x"),
        ("a = b\nb += 1\nc = b", 2, "a = b\nb = b + 1\nc = b"),
        ("with torch.no_grad():\n    b += 1", 2, "with torch.no_grad():\n    b = b + 1"),
        ("b[0].mul_(2)", 1, "b = b.clone()\nb[0].mul_(2)"),
        ("c = b.t().add_(x)", 1, "b = b.clone()\nc = b.t().add_(x)"),
        ("b = x + 1", 1, ""),
        ("b += 1", 2, ""),
        ("", 1, ""),
    ],
)
def test_a_write_becomes_a_new_tensor(source, line, rewritten):
    assert rewrites.out_of_place(source, {line}) == rewritten


def test_a_block_is_moved_behind_a_later_line_as_a_whole():
    source = "y = w * w\nwith torch.no_grad():\n    a = 1\n    w -= a\ny.backward()\nw.grad"
    moved = "y = w * w\ny.backward()\nwith torch.no_grad():\n    a = 1\n    w -= a\nw.grad"
    assert rewrites.moved_behind(source, 4, 5) == moved
    assert rewrites.moved_behind(source, 4, 4) == ""
    assert rewrites.moved_behind(source, 4, None) == ""


def test_every_backward_but_the_last_keeps_the_graph():
    source = "y.backward()\ny.backward(retain_graph=False)\ny.backward()"
    kept = "y.backward(retain_graph=True)\ny.backward(retain_graph=True)\ny.backward()"
    assert rewrites.retaining(source, 3) == kept
    assert rewrites.retaining(source, 1) == ""


def test_cuts_are_undone_before_a_leaf_is_tracked():
    assert rewrites.connected("y = x.detach() * 2", "x") == "y = x * 2"
    inside = "with torch.no_grad():\n    with torch.inference_mode():\n        y = x * 2\nz = y"
    assert rewrites.connected(inside, "x") == "y = x * 2\nz = y"
    assert rewrites.connected("y = x * 2", "x") == "x.requires_grad_()\ny = x * 2"
    assert rewrites.connected("y = x * 2", "") == ""


def test_a_call_that_writes_becomes_one_that_gives_a_new_tensor():
    source = "y = x.exp().add_(1).zero_()"
    assert rewrites.in_expressions(source, {1}) == "y = torch.zeros_like(x.exp() + 1)"
    assert rewrites.in_expressions("y = x.exp() + 1", {1}) == ""


def test_copies_are_tried_from_just_before_the_write_to_the_beginning():
    told = list(rewrites.cloned_between("a = x\nb = a\nb += 1", 3, ["a", "b"]))
    assert len(told) == 6
    assert told[0] == "a = x\nb = a\na = a.clone()\nb += 1"
    assert told[-1] == "b = b.clone()\na = x\nb = a\nb += 1"


def test_a_line_is_told_with_its_block():
    source = "y = w * x\nwith torch.no_grad():\n    w -= y"
    assert rewrites.text_of(source, 3) == "w -= y"
    assert (rewrites.is_in_block(source, 1), rewrites.is_in_block(source, 3)) == (False, True)
