"""What is said of two sides, and what the file of their numbers holds."""

import csv
import io

import pytest

from core.budget.comparison.side_by_side import Pair, side_by_side
from core.budget.item import Formula, item
from core.figures.picture import Look
from pages.shared.beside import (
    MOST_ROWS,
    Compared,
    sentence,
    shown,
    side_by_side_picture,
    signed,
    two_names,
)
from pages.shared.charts import table_csv
from pages.shared.sides import read_side, write_side


def number(amount, unit="bytes"):
    return item("x", Formula("n"), {"n": amount}, unit=unit, source="", kind="exact")


def test_the_file_holds_both_sides_their_difference_and_their_ratio():
    a = Compared(name="small", rows=[("peak", number(1000)), ("time", number(2, "s"))])
    b = Compared(name="large", rows=[("peak", number(2500)), ("time", number(1, "s"))])
    (chart,) = shown(a, b).charts
    rows = list(csv.DictReader(io.StringIO(table_csv(chart.picture.table))))
    assert [
        (row["A exactly"], row["B exactly"], row["difference exactly"], row["B ÷ A"], row["unit"])
        for row in rows
    ] == [("1000", "2500", "1500", "2.5", "bytes"), ("2", "1", "-1", "0.5", "s")]
    assert rows[0]["A: small"] == "1,000 B"


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("bytes", "B needs 2 times A's memory: 24 B against 12 B"),
        ("s", "B takes 2 times as long as A: 24.0 s against 12.0 s"),
        ("FLOPs", "B takes 2 times A's FLOPs: "),
        ("tokens/s", "B is 2 times as fast as A: 24 tokens/s against 12 tokens/s"),
        ("parameters", "B has 2 times A's parameters: 24 against 12"),
        ("1", "B reaches 2 times A's share of the peak: "),
    ],
)
def test_the_sentence_says_how_many_times(unit, words):
    pair = Pair(name="x", a=number(12, unit), b=number(24, unit))
    assert sentence(pair).startswith(words)
    assert sentence(Pair(name="x", a=pair.a, b=pair.a)).startswith("A and B ")
    assert sentence(pair, ("fits", "too big")).endswith(" (A: fits, B: too big)")


def test_nothing_has_no_multiple():
    assert sentence(Pair(name="x", a=number(0), b=number(5))) == "A: 0 B, B: 5 B"


def test_a_name_says_its_first_word_and_what_differs():
    assert two_names(("7B", "BF16", "x"), ("7B", "FP8", "x")) == ("7B, BF16", "7B, FP8")
    assert two_names(("7B", "x"), ("70B", "x")) == ("7B", "70B")
    assert two_names("abcde", "fghij") == ("a, b, c, …", "f, g, h, …")


@pytest.mark.parametrize(
    "values", [{}, {"config": '{"a":1,"b":"x & y = 50 % + z"}', "size": "7b"}, {"text": ""}]
)
def test_a_side_is_read_as_it_was_written(values):
    assert read_side(write_side(values)) == values


def test_a_text_without_end_is_read_as_nothing():
    assert read_side("&".join(f"x{n}=1" for n in range(200))) == {}


NAMES = ("small", "large")


@pytest.fixture
def pairs():
    return side_by_side(
        [("whole", number(10)), ("time", number(3, "s")), ("gone", number(4))],
        [("whole", number(25)), ("time", number(1.5, "s")), ("new", number(6))],
    )


def test_both_sides_stand_on_one_axis_and_another_unit_has_its_own(pairs):
    a, b, a_time, b_time = side_by_side_picture(pairs, NAMES, Look()).figure.data
    assert (list(a.x), list(b.x)) == ([10, 4, 0], [25, 0, 6])
    assert a.xaxis == b.xaxis == "x"
    assert (list(a_time.x), list(b_time.x)) == ([3], [1.5])
    assert a_time.xaxis == b_time.xaxis == "x2"
    assert not any(set(a.y) & set(b.y)), "no bar hides the other"
    assert b.customdata[0].startswith("n<br>= 25")


def test_difference_and_ratio_stand_beside_each_row(pairs):
    figure = side_by_side_picture(pairs, NAMES, Look()).figure
    beside = [note.text for note in figure.layout.annotations]
    assert beside == [
        "+15 B · <b>2.5 ×</b>",
        "−1.50 s · <b>0.5 ×</b>",
        "−4 B · <b>0 ×</b>",
        "+6 B · <b>–</b>",
    ]
    assert signed(0, "s") == "±0"


def test_the_table_holds_both_sides_and_the_difference_as_they_are(pairs):
    table = side_by_side_picture(pairs, NAMES, Look()).table
    assert table["A: small"] == ["10 B", "3.00 s", "4 B", "–"]
    assert table["A exactly"] == [10, 3, 4, None]
    assert table["B exactly"] == [25, 1.5, None, 6]
    assert table["difference exactly"] == [15, -1.5, -4, 6]
    assert table["unit"] == ["bytes", "s", "bytes", "bytes"]


def test_a_projector_shows_fewer_rows_and_the_table_them_all():
    rows = [(f"row {n}", number(n)) for n in range(1, 12)]
    picture = side_by_side_picture(side_by_side(rows, rows), NAMES, Look(present=True))
    assert len(picture.figure.data[0].x) == MOST_ROWS[True]
    assert len(picture.table["compared"]) == 11
    assert "row 1 1 B and 1 B (1 ×)" in picture.alt
