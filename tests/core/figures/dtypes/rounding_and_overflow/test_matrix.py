"""Marks by rows and columns: each kind one trace with its own shape, everything in order."""

import pytest

from core.figures.dtypes.rounding_and_overflow.matrix import Kind, Mark, mark_matrix
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES

KINDS = {
    "yes": Kind(words="yes", symbol="circle", meaning="works"),
    "what": Kind(words="what", symbol="?", meaning="muted"),
}
MARKS = {("b", "1"): Mark(kind="yes", hover="b one"), ("a", "2"): Mark(kind="what", hover="a two")}


@pytest.mark.parametrize("mode", MODES)
def test_each_kind_is_a_trace_with_its_own_shape_and_colour(mode):
    yes, what, sign = mark_matrix(MARKS, KINDS, Look(mode=mode)).data
    assert (yes.x, yes.y, yes.marker.symbol) == (("1",), ("b",), "circle")
    assert yes.marker.color == COLORS[mode]["works"]
    assert (what.mode, what.text, what.hovertext) == ("text", ("?",), ("a two",))
    assert (what.showlegend, what.legendgroup) == (False, sign.legendgroup)
    assert sign.name == f'<b style="color:{COLORS[mode]["muted"]}">?</b> what'


def test_a_sign_that_nobody_wrote_is_not_explained():
    marks = {("b", "1"): MARKS["b", "1"]}
    assert [trace.showlegend for trace in mark_matrix(marks, KINDS, Look()).data] == [True, False]


def test_rows_and_columns_keep_their_order_a_lit_column_has_a_band_and_a_strange_one_none():
    figure = mark_matrix(MARKS, KINDS, Look(), lit="2")
    assert figure.layout.yaxis.categoryarray == ("b", "a")
    assert figure.layout.xaxis.categoryarray == ("1", "2")
    [band] = figure.layout.shapes
    assert (band.x0, band.x1) == (0.5, 1.5)
    assert not mark_matrix(MARKS, KINDS, Look(), lit="3").layout.shapes
