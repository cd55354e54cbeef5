"""Simulated steps kept for every session of a server."""

from collections import OrderedDict

import pytest

from core.budget.comparison.one_device import on_one_device
from core.budget.recipe import TrainingRecipe
from core.budget.simulation.cases import write_case
from core.budget.simulation.timeline import Holding, Point, StepReport
from core.figures.picture import Drawing, Look
from core.figures.theme import MODES
from core.units import GIB, format_bytes
from pages.plan.training_memory import step_timeline
from pages.plan.training_memory.step_timeline import (
    draw_phases,
    moments_picture,
    op_name,
    step_picture,
)
from tests.core.budget.named import named_scenario
from tests.core.budget.simulation.test_cases import REPORT


@pytest.fixture
def kept(monkeypatch):
    shared = step_timeline.Shared(reports=OrderedDict())
    monkeypatch.setattr(step_timeline, "shared", lambda: shared)
    monkeypatch.setattr(step_timeline, "MOST_KEPT", 2)
    return shared


def case(seq_len):
    return named_scenario("gpt2", "t4", TrainingRecipe(seq_len=seq_len))


def name(seq_len):
    return write_case(case(seq_len).spec, case(seq_len).recipe)


def test_a_report_is_found_again_and_the_oldest_goes_first(kept, monkeypatch):
    monkeypatch.setattr(step_timeline, "run_simulation", lambda *_: REPORT)
    assert step_timeline.kept_report(case(8)) is None
    for seq_len in (8, 16, 32):
        step_timeline.keep_simulation(name(seq_len), case(seq_len))
    assert list(kept.reports) == [name(16), name(32)]
    assert step_timeline.kept_report(case(32)) is REPORT
    assert step_timeline.kept_report(case(8)) is None


def test_a_failed_run_keeps_nothing_and_forgets_where_it_was(kept, monkeypatch):
    def fail(_spec, _recipe, note):
        note("forward", "blocks.0")
        assert kept.places[name(8)] == ("forward", "blocks.0")
        raise ValueError("the child failed")

    monkeypatch.setattr(step_timeline, "run_simulation", fail)
    with pytest.raises(ValueError, match="the child failed"):
        step_timeline.keep_simulation(name(8), case(8))
    assert (kept.reports, kept.places) == ({}, {})


FOUND = on_one_device(named_scenario("llama-2-7b", "h100-sxm"))
DRAWN_REPORT = StepReport(
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
LOOKS = [Look(mode=mode, present=mode == "dark") for mode in MODES]


def notes(picture):
    return [note.text.strip() for note in picture.figure.layout.annotations]


def test_every_moment_is_a_bar_and_the_longest_is_the_peak():
    for look in LOOKS:
        picture = moments_picture(FOUND.moments, FOUND.capacity, look)
        traces = [trace.x for trace in picture.figure.data]
        assert max(map(sum, zip(*traces, strict=True))) == FOUND.peak.amount
        assert format_bytes(FOUND.peak.amount) in notes(picture)
        assert any(text.startswith("capacity") for text in notes(picture))


def test_the_legend_stands_below_the_bars_the_name_of_the_capacity_above_them():
    for look in LOOKS:
        layout = moments_picture(FOUND.moments, FOUND.capacity, look).figure.layout
        assert (layout.legend.yref, layout.legend.y) == ("container", 0)
        assert layout.margin.t >= 1.5 * layout.font.size
        assert layout.legend.traceorder == "normal"


def test_a_capacity_far_away_is_left_out():
    far = [
        moments_picture(FOUND.moments, 1e15, Look()),
        step_picture(DRAWN_REPORT, 80 * GIB, Look()),
    ]
    assert not any("capacity" in text for picture in far for text in notes(picture))


def test_the_areas_add_up_to_what_is_held_and_the_peak_is_named():
    for look in LOOKS:
        picture = step_picture(DRAWN_REPORT, 16 * GIB, look)
        sums = [sum(ys) for ys in zip(*(trace.y for trace in picture.figure.data), strict=True)]
        assert sums == [14, 15, 16, 16, 17, 17]
        assert {"17.0 GiB · foreach_sqrt", "capacity 16.0 GiB", "forward"} <= set(notes(picture))
        assert "backward" not in notes(picture)  # too narrow here


def test_a_rerun_is_a_part_of_the_backward_pass_and_a_narrow_phase_has_no_name():
    places = (0, 90, 100, 110, 200, 201)
    phases = ("forward", "forward", "backward", "recompute", "backward", "optimizer step")
    points = [
        Point(place, phase, "aten.mm", "", 0, 0, 0)
        for place, phase in zip(places, phases, strict=True)
    ]
    drawing = Drawing()
    draw_phases(drawing, points, Look())
    named = [(note["text"], note["x"]) for note in drawing.annotations]
    assert named == [("forward", 45), ("backward", 150)]
    assert [line["x0"] for line in drawing.shapes] == [0, 100, 201]


def test_the_sentences_and_the_tables_say_the_same():
    peak, moments = format_bytes(FOUND.peak.amount), moments_picture(FOUND.moments, 0, Look())
    assert f"optimizer step {peak}" in moments.alt
    assert peak in moments.table["total"]
    step = step_picture(DRAWN_REPORT, 16 * GIB, Look())
    assert "13.0 GiB live between steps, the forward pass leaves 2.00 GiB more" in step.alt
    assert "the peak of 17.0 GiB comes with foreach_sqrt in the phase optimizer step" in step.alt
    assert step.table["total"][-1] == "17.0 GiB"
    assert step.table["operation"][1] == "40 mm"
    assert step.table["phase"][2] == "backward"


def test_an_operation_is_named_without_its_name_space():
    assert op_name("aten._foreach_sqrt") == "foreach_sqrt"
    assert op_name("aten.mm") == "mm"
