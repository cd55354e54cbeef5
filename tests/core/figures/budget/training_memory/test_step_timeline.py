"""A simulated step by its data."""

from core.budget.simulation.timeline import Holding, Point, StepReport
from core.figures.budget.training_memory.step_timeline import (
    op_name,
    step_alt,
    step_figure,
    step_table,
)
from core.figures.theme import MODES
from core.units import GIB

REPORT = StepReport(
    base={"weights": 4 * GIB, "master weights": GIB, "optimizer states": 8 * GIB},
    points=(
        Point(0, "forward", "aten.embedding", "tokens", GIB, 0, 0),
        Point(40, "forward", "aten.mm", "blocks.0.attention.q", 2 * GIB, 0, 0),
        Point(60, "recompute", "aten.mm", "blocks.0", GIB, GIB, GIB),
        Point(61, "backward", "aten.mm", "blocks.0", 0, 2 * GIB, GIB),
        Point(100, "optimizer step", "aten._foreach_sqrt", "", 0, 2 * GIB, 2 * GIB),
    ),
    peak=17 * GIB,
    peak_place=4,
    holdings=(Holding(GIB, 1, "temporary", "aten._foreach_sqrt", "", ""),),
    num_events=101,
    forward_bytes=2 * GIB,
    seconds=0.9,
)


def test_the_areas_add_up_to_what_is_held_and_the_peak_is_named():
    for mode, present in zip(MODES, (False, True), strict=True):
        figure = step_figure(REPORT, 16 * GIB, "GiB", mode, present=present)
        sums = [sum(values) for values in zip(*(trace.y for trace in figure.data), strict=True)]
        assert sums == [14, 15, 16, 16, 17, 17]
        texts = [note.text for note in figure.layout.annotations]
        assert "17.0 GiB · foreach_sqrt" in texts
        assert "capacity 16.0 GiB" in texts
        assert texts.count("backward") == 0  # too narrow here
        assert "forward" in texts


def test_a_device_far_too_large_gets_no_line():
    texts = [n.text for n in step_figure(REPORT, 80 * GIB, "GiB", "light").layout.annotations]
    assert not any("capacity" in text for text in texts)


def test_the_sentence_and_the_table_say_the_same():
    sentence = step_alt(REPORT, "GiB")
    assert "13.0 GiB live between steps, the forward pass leaves 2.00 GiB more" in sentence
    assert "the peak of 17.0 GiB comes with foreach_sqrt in the phase optimizer step" in sentence
    table = step_table(REPORT, "GiB")
    assert table["total"][-1] == "17.0 GiB"
    assert table["operation"][1] == "40 mm"
    assert table["phase"][2] == "backward"
    assert op_name("aten.mm") == "mm"
