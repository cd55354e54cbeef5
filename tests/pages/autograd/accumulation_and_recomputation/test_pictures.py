"""The pictures of kept activations, of a gradient call by call, and of memory against compute."""

import pytest

from core.autograd.accumulation import count_calls
from core.autograd.layer_stack import Stack
from core.autograd.recomputation import compare, sweep
from core.figures.picture import Look
from pages.autograd.accumulation_and_recomputation.accumulation import calls_picture
from pages.autograd.accumulation_and_recomputation.kept import kept_picture
from pages.autograd.accumulation_and_recomputation.trade_off import trade_off_picture

STACK = Stack(batch_size=4, width=8, num_layers=6)


@pytest.mark.parametrize("look", [Look(), Look(mode="dark", present=True, unit="GB")])
def test_the_curves_are_the_bytes_after_each_operation(look):
    both = compare(STACK, 3)
    plain, run = both.plain, both.checkpointed
    picture = kept_picture(run.moments, "with", plain.moments, "without", look)
    held, again, other = picture.figure.data
    assert list(held.y) == [each.held for each in run.moments]
    assert list(again.y) == [each.recomputed for each in run.moments]
    assert max(other.y) == plain.peak == plain.held
    assert all(look.format_bytes(each.peak) in picture.alt for each in (run, plain))
    assert len({len(column) for column in picture.table.values()}) == 1


def test_bars_are_what_was_there_and_what_was_added():
    picture = calls_picture(count_calls(3), "", Look())
    before, added = picture.figure.data
    assert list(before.y) == [0, 4, 8]
    assert list(added.y) == [4, 4, 4]
    assert "4 → 8 → 12" in picture.alt
    calls = count_calls(3, loss="multiples", reset="zero", every=2)
    assert "grad.zero_() before 3" in calls_picture(calls, "grad.zero_()", Look()).alt


def test_bars_are_bytes_and_the_line_is_flops():
    runs = sweep(STACK)
    picture = trade_off_picture(runs, Look())
    held, peak, flops = picture.figure.data
    assert list(held.x) == ["none", "1", "2", "4", "6", "nested"]
    assert list(held.y) == [each.held for each in runs]
    assert list(peak.y) == [each.peak for each in runs]
    assert list(flops.y) == picture.table["FLOPs"] == [each.flops for each in runs]
    assert all(Look().format_bytes(each.peak) in picture.alt for each in runs)
