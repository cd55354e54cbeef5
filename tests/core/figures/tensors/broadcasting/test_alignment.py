"""Shapes aligned from the right: boxes, grids, sentence and table."""

import pytest

from core.figures.picture import Look
from core.figures.tensors.broadcasting.alignment import MOST, alignment_picture
from core.figures.tensors.broadcasting.bytes import bytes_picture
from core.tensors.broadcasting import broadcast


def drawn(look=None, **shapes):
    return alignment_picture(broadcast(shapes, 4), -1, look or Look())


def boxes(picture):
    """Return what stands in each place: (column from the right, line) -> text."""
    words = picture.figure.data[0]
    texts = [text.removeprefix("<b>").removesuffix("</b>") for text in words.text]
    return dict(zip(zip(words.x, words.y, strict=True), texts, strict=True))


def levels(picture):
    """Return the number of cells of each layer of each grid."""
    return [
        sum(each is not None for row in trace.z for each in row)
        for trace in picture.figure.data
        if trace.type == "heatmap"
    ]


def test_a_column_and_a_row_stretch_to_a_table():
    picture = drawn(a=(3, 1), b=(1, 4))
    assert boxes(picture) == {
        (-2, 0): "3", (-1, 0): "1 → 4", (-2, 1): "1 → 3", (-1, 1): "4", (-2, 2): "3", (-1, 2): "4"
    }  # fmt: skip
    assert levels(picture) == [3, 9, 0, 4, 8, 0, 0, 0, 12], "stored, read again, written"
    assert "a has the strides (1, 0), b has the strides (0, 1)" in picture.alt


def test_a_missing_dimension_points_to_what_it_becomes():
    assert boxes(drawn(a=(2, 3), b=(3,)))[-2, 1] == "→ 2"


def test_lengths_that_forbid_it_have_a_cross_and_there_is_no_grid():
    picture = drawn(a=(8, 3), b=(8,))
    assert [boxes(picture)[-1, line] for line in range(3)] == ["3 ✗", "8 ✗", "✗"]
    assert levels(picture) == []
    assert "dimension -1" in picture.alt


def test_a_click_carries_the_dimension():
    words = drawn(a=(3, 1), b=(1, 4)).figure.data[0]
    assert {each[0] for each in words.customdata} == {-1, -2}


@pytest.mark.parametrize("present", [False, True])
def test_many_large_operands_stay_on_one_screen(present):
    picture = drawn(Look(present=present), a=(2, 128, 768), b=(2, 128, 1), c=(768,), d=())
    assert picture.figure.layout.height <= 470
    assert max(levels(picture), default=0) <= MOST**2
    assert all(len(column) == 5 for column in picture.table.values())


def test_numbers_without_dimensions_and_empty_tensors_are_drawn():
    for shapes in ({"a": (), "b": ()}, {"a": (0,), "b": (1,)}, {"a": (1,), "b": ()}):
        assert drawn(**shapes).figure.layout.height > 0, shapes


def test_the_bars_are_as_long_as_the_bytes():
    case = broadcast({"a": (4, 12, 128, 128), "b": (4, 1, 1, 128)}, 4)
    picture = bytes_picture(case, Look())
    stored, written_out = picture.figure.data
    assert list(stored.x) == [4 * 4 * 12 * 128 * 128, 4 * 4 * 128]
    assert list(written_out.x) == [4 * 4 * 12 * 128 * 128] * 2
    assert "2.00 KiB" in picture.alt


def test_the_bytes_of_shapes_that_do_not_go_together_are_refused():
    with pytest.raises(ValueError, match="do not go together"):
        bytes_picture(broadcast({"a": (3,), "b": (4,)}, 4), Look())
