"""What is said of two sides, and what the file of their numbers holds."""

import csv
import io

import pytest

from core.budget.comparison.side_by_side import Pair
from core.budget.item import Formula, item
from pages.shared.beside import Compared, sentence, shown, two_names
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
