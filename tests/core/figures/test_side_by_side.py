"""The picture of two sides by its data."""

import pytest

from core.budget.comparison.side_by_side import side_by_side
from core.budget.item import Formula, item
from core.figures.picture import Look
from core.figures.side_by_side import MOST_ROWS, Names, side_by_side_picture, signed

NAMES = Names(a="small", b="large")


def written(amount, unit):
    return f"{amount:g} {unit}"


def number(amount, unit="bytes"):
    return item("x", Formula("2 * n"), {"n": amount / 2}, unit=unit, source="", kind="exact")


@pytest.fixture
def pairs():
    return side_by_side(
        [("whole", number(10)), ("time", number(3, "s")), ("gone", number(4))],
        [("whole", number(25)), ("time", number(1.5, "s")), ("new", number(6))],
    )


def test_both_sides_stand_on_one_axis_and_another_unit_has_its_own(pairs):
    a, b, a_time, b_time = side_by_side_picture(pairs, NAMES, written, Look()).figure.data
    assert (list(a.x), list(b.x)) == ([10, 4, 0], [25, 0, 6])
    assert a.xaxis == b.xaxis == "x"
    assert (list(a_time.x), list(b_time.x)) == ([3], [1.5])
    assert a_time.xaxis == b_time.xaxis == "x2"
    assert not any(set(a.y) & set(b.y)), "no bar hides the other"
    assert "2 * n" in b.customdata[0]


def test_difference_and_ratio_stand_beside_each_row(pairs):
    figure = side_by_side_picture(pairs, NAMES, written, Look()).figure
    beside = [note.text for note in figure.layout.annotations]
    assert beside == [
        "+15 bytes · <b>2.5 ×</b>",
        "−1.5 s · <b>0.5 ×</b>",
        "−4 bytes · <b>0 ×</b>",
        "+6 bytes · <b>–</b>",
    ]
    assert signed(0, "s", written) == "±0"


def test_the_table_holds_both_sides_and_the_difference_as_they_are(pairs):
    table = side_by_side_picture(pairs, NAMES, written, Look()).table
    assert table["A: small"] == ["10 bytes", "3 s", "4 bytes", "–"]
    assert table["A exactly"] == [10, 3, 4, None]
    assert table["B exactly"] == [25, 1.5, None, 6]
    assert table["difference exactly"] == [15, -1.5, -4, 6]
    assert table["unit"] == ["bytes", "s", "bytes", "bytes"]


def test_a_projector_shows_fewer_rows_and_the_table_them_all():
    rows = [(f"row {n}", number(n)) for n in range(1, 12)]
    picture = side_by_side_picture(side_by_side(rows, rows), NAMES, written, Look(present=True))
    assert len(picture.figure.data[0].x) == MOST_ROWS[True]
    assert len(picture.table["compared"]) == 11
    assert "row 1 1 bytes and 1 bytes (1 ×)" in picture.alt
