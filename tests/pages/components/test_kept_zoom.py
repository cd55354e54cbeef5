"""What the axes of a chart mean decides whether a zoom still says something."""

import plotly.graph_objects as go
import pytest

from pages.components.kept_zoom.kept_zoom import meaning

LAYOUT = {"xaxis": {"title": "step", "type": "linear"}, "yaxis": {"title": "memory (MiB)"}}


def figure(**fields):
    return go.Figure(go.Scatter(x=[1, 2], y=[3, 4]), layout=LAYOUT | fields)


def test_other_numbers_on_the_same_axes_mean_the_same():
    other = figure(height=500, annotations=[{"text": "peak", "x": 1, "y": 2}])
    other.data[0].y = [30, 40]
    assert meaning(other, "GiB") == meaning(figure(), "GiB")


def test_it_is_the_same_when_a_figure_is_shown_a_second_time():
    shown = figure()
    shown.layout.uirevision = meaning(shown, "GiB")
    assert meaning(shown, "GiB") == shown.layout.uirevision


@pytest.mark.parametrize(
    "fields",
    [
        {"xaxis": {"title": "step", "type": "log"}},
        {"yaxis": {"title": "memory (GiB)"}},
        {"yaxis": {"title": "memory (MiB)", "ticksuffix": "k"}},
        {"xaxis2": {"title": "layer"}},
        {"meta": {"floor": -126}},
    ],
)
def test_another_axis_is_another_meaning(fields):
    assert meaning(figure(**fields), "GiB") != meaning(figure(), "GiB")


def test_another_memory_unit_is_another_meaning():
    assert meaning(figure(), "GB") != meaning(figure(), "GiB")
