import numpy as np

from core.figures.dtypes.low_precision_training.lab_frame import LabDrawing, some
from core.figures.picture import Look
from core.figures.theme import PRESENT_CHART_TEXT_PX


def test_a_long_line_is_thinned_and_keeps_its_ends_and_its_landmarks():
    places = some(10_000, 240, [2206])
    assert (places[0], places[-1]) == (0, 9999)
    assert 2206 in places
    assert len(places) <= 241
    assert some(3, 240, [-1, 7]) == [0, 1, 2]


def test_what_is_not_finite_leaves_a_gap_in_a_line():
    drawing = LabDrawing(look=Look())
    drawing.line([1, 2, 3], np.array([1.0, np.inf, np.nan]), "a", "format_a")
    assert drawing.traces[0]["y"] == [1.0, None, None]


def test_a_projector_gets_larger_text():
    layout = LabDrawing(look=Look(present=True)).layout(x={"title": "x"}, y={"title": "y"})
    assert layout["font"]["size"] == PRESENT_CHART_TEXT_PX
    assert (layout["xaxis"]["title"]["text"], layout["yaxis"]["title"]["text"]) == ("x", "y")
