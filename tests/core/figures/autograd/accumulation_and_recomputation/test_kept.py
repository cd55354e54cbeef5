"""The curves of kept activations."""

import pytest

from core.autograd.layer_stack import Stack
from core.autograd.recomputation import compare
from core.figures.autograd.accumulation_and_recomputation.kept import kept_picture
from core.figures.picture import Look

BOTH = compare(Stack(batch_size=4, width=8, num_layers=6), 3)


@pytest.mark.parametrize("look", [Look(), Look(mode="dark", present=True, unit="GB")])
def test_the_curves_are_the_bytes_after_each_operation(look):
    plain, run = BOTH.plain, BOTH.checkpointed
    picture = kept_picture(run.moments, "with", plain.moments, "without", look)
    held, again, other = picture.figure.data
    assert list(held.y) == [each.held for each in run.moments]
    assert list(again.y) == [each.recomputed for each in run.moments]
    assert max(other.y) == plain.peak == plain.held
    assert look.format_bytes(run.peak) in picture.alt
    assert look.format_bytes(plain.peak) in picture.alt
    assert len({len(column) for column in picture.table.values()}) == 1


def test_a_line_stands_where_both_forward_passes_end():
    forward = sum(each.phase == "forward" for each in BOTH.plain.moments)
    picture = kept_picture(BOTH.checkpointed.moments, "a", BOTH.plain.moments, "b", Look())
    (line,) = picture.figure.layout.shapes
    assert line.x0 == forward + 0.5
    assert not kept_picture(
        BOTH.plain.moments * 2, "a", BOTH.plain.moments, "b", Look()
    ).figure.layout.shapes
