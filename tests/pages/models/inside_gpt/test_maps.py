import math

import pytest

from core.figures.picture import Drawing, Look
from pages.models.inside_gpt.maps import Map, draw_maps

PIECES = ("a", "b", "c")


def drawn(maps, pieces=PIECES, at=None, **look):
    drawing = Drawing()
    layout = draw_maps(drawing, maps, pieces, Look(**look), 330, at)
    return drawing.figure(layout)


def a_map(rows, scale="signed", **more):
    columns = [str(number) for number in range(len(rows[0]))]
    return Map(title="x", rows=rows, scale=scale, columns=columns, **more)


def test_signed_numbers_have_zero_in_the_middle_and_infinite_ones_leave_gaps():
    figure = drawn([a_map([[1.0, -math.inf], [-4.0, 2.0], [0.0, math.nan]])])
    (trace,) = figure.data
    assert (trace.zmin, trace.zmax) == (-4, 4)
    assert [list(row) for row in trace.z] == [[1, None], [-4, 2], [0, None]]
    assert trace.colorscale[1][1] == Look().color("background")
    assert figure.layout.plot_bgcolor == Look().color("border")


def test_maps_stand_beside_each_other_as_wide_as_asked():
    figure = drawn([a_map([[1.0]] * 3, width=1), a_map([[1.0]] * 3, width=3)])
    first, second = figure.layout.xaxis.domain, figure.layout.xaxis2.domain
    assert first[0] == 0
    assert second[1] == pytest.approx(1)
    assert first[1] < second[0]
    assert (second[1] - second[0]) == pytest.approx(3 * (first[1] - first[0]))


def test_rows_are_tokens_from_top_to_bottom_and_every_name_has_room():
    figure = drawn([a_map([[float(n)] for n in range(64)])], [f"t{n}" for n in range(64)])
    axis = figure.layout.yaxis
    assert axis.range[0] > axis.range[1]
    size = figure.layout.font.size
    assert len(axis.ticktext) * size < 330
    assert axis.ticktext[1] == f"t{axis.tickvals[1]}"


@pytest.mark.parametrize("present", [True, False])
def test_numbers_are_written_where_they_can_be_read(present):
    small, wide = drawn([a_map([[1.0] * 3] * 3)], present=present), drawn([a_map([[1.0] * 40] * 3)])
    assert bool(small.data[0].texttemplate) is not present
    assert not wide.data[0].texttemplate
