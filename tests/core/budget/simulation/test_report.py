from dataclasses import replace

from core.budget.simulation.report import (
    NUM_POINTS,
    read_report,
    report_of,
    write_report,
)
from core.budget.simulation.step import simulate_step
from tests.core.budget.simulation.test_prepared import LLAMA, recipe


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
