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
        ("b = x + 1", 1, ""),
        ("b += 1", 2, ""),
        ("b += 1", None, ""),
        ("", 1, ""),
    ],
)
def test_a_write_becomes_a_new_tensor(source, line, rewritten):
    assert rewrites.out_of_place(source, line) == rewritten


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


def test_writes_are_found_with_line_and_name_within_blocks_too():
    source = "b.t().add_(1)\nc = b.add(1)\nwith torch.no_grad():\n    w.grad *= 2\nc[0] = 1"
    found = rewrites.writes_of(source)
    assert [(line, name) for line, name, _text in found] == [(1, "b"), (4, "w"), (5, "c")]


def test_a_line_is_told_with_its_names():
    source = "y = w * x\nwith torch.no_grad():\n    w -= y"
    assert rewrites.text_of(source, 3) == "w -= y"
    assert rewrites.names_on(source, 1) == {"y", "w", "x"}
    assert (rewrites.is_in_block(source, 1), rewrites.is_in_block(source, 3)) == (False, True)
