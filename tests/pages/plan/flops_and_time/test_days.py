import pytest

from core.budget.training.duration import training_seconds
from core.figures.picture import Look
from pages.plan.flops_and_time.training_time import DAY, days_picture

ONE = training_seconds(70 * 10**9, 15 * 10**12, 1, 989.4e12, 1.0)


def test_the_chosen_point_lies_on_the_line_of_its_mfu():
    figure = days_picture(ONE, 0.5, 1024, Look()).figure
    line = next(trace for trace in figure.data if trace.name == "50 % MFU")
    assert line.y[list(line.x).index(1024)] == pytest.approx(143.94, abs=0.005)
    point = figure.data[-1]
    assert (point.x[0], point.y[0]) == (1024, pytest.approx(143.94, abs=0.005))
    low, high = figure.data[:2]
    for edge, mfu in ((low, 0.3), (high, 0.6)):
        assert edge.y[0] == pytest.approx(ONE / mfu / DAY / edge.x[0])


def test_every_time_that_is_drawn_has_ticks_around_it():
    for seconds, mfu, num_devices in ((0.006, 1.0, 1_000_000), (ONE, 0.5, 1024), (7e17, 0.01, 1)):
        figure = days_picture(seconds, mfu, num_devices, Look()).figure
        drawn = [days for trace in figure.data for days in trace.y]
        ticks = figure.layout.yaxis.tickvals
        assert ticks[0] <= min(drawn)
        assert max(drawn) <= ticks[-1]
