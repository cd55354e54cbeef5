"""Memory against compute."""

from core.autograd.layer_stack import Stack
from core.autograd.recomputation import sweep
from core.figures.picture import Look
from pages.autograd.accumulation_and_recomputation.trade_off import trade_off_picture

RUNS = sweep(Stack(batch_size=4, width=8, num_layers=6))


def test_bars_are_bytes_and_the_line_is_flops():
    picture = trade_off_picture(RUNS, Look())
    held, peak, flops = picture.figure.data
    assert list(held.x) == ["none", "1", "2", "4", "6", "nested"]
    assert list(held.y) == [each.held for each in RUNS]
    assert list(peak.y) == [each.peak for each in RUNS]
    assert list(flops.y) == [each.flops for each in RUNS]
    assert flops.yaxis == "y2"
    for each in RUNS:
        assert Look().format_bytes(each.peak) in picture.alt
    assert picture.table["FLOPs"] == [each.flops for each in RUNS]
