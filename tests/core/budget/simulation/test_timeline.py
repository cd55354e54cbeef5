"""A made-up timeline, counted by hand, and the short of a real one."""

from dataclasses import replace

from core.budget.simulation.step import simulate_step
from core.budget.simulation.timeline import (
    BACKWARD,
    FORWARD,
    GRADIENT,
    KINDS,
    NUM_POINTS,
    SAVED,
    TEMPORARY,
    Allocation,
    Holding,
    StepEvent,
    StepTimeline,
    read_report,
    report_of,
    write_report,
)
from tests.core.budget.simulation.test_prepared import LLAMA, recipe

TIMELINE = StepTimeline(
    events=(
        StepEvent("aten.mm", "blocks.0.q", FORWARD, 110),
        StepEvent("aten.mm", "blocks.1.q", FORWARD, 120),
        StepEvent("aten.sum", "", FORWARD, 124),
        StepEvent("aten.mm", "blocks.1.q", BACKWARD, 144),
        StepEvent("aten.mm", "blocks.0.q", BACKWARD, 130),
    ),
    allocations=(
        Allocation(10, 0, 5, SAVED, "blocks.0.o"),
        Allocation(10, 1, 4, SAVED, "blocks.1.o"),
        Allocation(4, 2, 4, TEMPORARY),
        Allocation(20, 3, 5, GRADIENT),
    ),
    base={"weights": 60, "optimizer states": 40},
)


def test_the_peak_is_the_first_highest_event():
    assert TIMELINE.peak_index == 3
    assert TIMELINE.peak == 144
    assert TIMELINE.events[TIMELINE.peak_index].module == "blocks.1.q"


def test_the_curves_of_all_kinds_and_the_base_add_up_to_what_is_live():
    sums = [sum(parts) + 100 for parts in zip(*map(TIMELINE.curve, KINDS), strict=True)]
    assert sums == [110, 120, 124, 144, 130]


def test_layers_are_folded_when_asked_who_holds_the_memory():
    assert TIMELINE.holdings(2) == (
        Holding(20, 2, SAVED, "aten.mm", "blocks.*.q", "blocks.*.o"),
        Holding(4, 1, TEMPORARY, "aten.sum", "", ""),
    )
    assert TIMELINE.holdings(3)[0].kind == SAVED


def test_a_report_keeps_the_peak_and_adds_up():
    timeline = simulate_step(replace(LLAMA, num_layers=12), recipe())
    report = report_of(timeline, 0.5)
    assert len(report.points) <= NUM_POINTS + 3 < len(timeline.events)
    point = report.peak_point
    assert report.peak == timeline.peak
    assert report.peak == report.persistent + point.saved + point.gradients + point.temporary
    assert [each.place for each in report.points] == sorted({e.place for e in report.points})
    assert sum(row.num_bytes for row in report.holdings) <= report.peak - report.persistent
    assert report.forward_bytes == timeline.forward_bytes


def test_what_is_written_is_read():
    report = report_of(simulate_step(LLAMA, recipe()), 0.5)
    assert read_report(write_report(report)) == report
