"""Difference and ratio row by row, also where a side has nothing."""

import pytest

from core.budget import MODELS, training_budget
from core.budget.budget import at_peak
from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import Cluster
from core.budget.comparison.side_by_side import side_by_side
from core.budget.item import Formula, item, total
from core.budget.recipe import TrainingRecipe


def number(name, amount, unit="bytes"):
    return item(name, Formula("n"), {"n": amount}, unit=unit, source="", kind="exact")


def test_a_row_has_both_numbers_their_difference_and_their_ratio():
    (pair,) = side_by_side([("weights", number("w", 8))], [("weights", number("w", 20))])
    assert (pair.amounts, pair.difference, pair.ratio) == ((8, 20), 12, 2.5)
    assert pair.unit == "bytes"


def test_rows_that_one_side_lacks_count_as_nothing_there_and_those_of_b_come_last():
    a = [("weights", number("w", 8)), ("gradients", number("g", 4))]
    b = [("adapters", number("l", 1)), ("weights", number("w", 2))]
    found = side_by_side(a, b)
    assert [pair.name for pair in found] == ["weights", "gradients", "adapters"]
    assert [pair.difference for pair in found] == [-6, -4, 1]
    assert [pair.ratio for pair in found] == [0.25, 0, None]
    assert (found[1].b, found[2].a, found[2].unit) == (None, None, "bytes")


def test_unlike_units_and_a_name_that_stands_twice_are_refused():
    with pytest.raises(ValueError, match="cost: bytes cannot be compared with s"):
        side_by_side([("cost", number("x", 1))], [("cost", number("x", 1, "s"))])
    with pytest.raises(ValueError, match="stands twice"):
        side_by_side([("x", number("x", 1))] * 2, [])


def test_items_are_compared_whole_and_part_by_part():
    parts = [number("codes", 10), number("scales", 2)]
    a, b = total("weights", parts, source=""), total("weights", parts[:1], source="")
    found = {pair.name: pair.difference for pair in side_by_side(a, b)}
    assert found == {"weights": -2, "codes": 0, "scales": -2}


def test_budgets_are_compared_at_their_peaks():
    cluster = Cluster(device=DEVICES["h100-sxm"])
    a, b = (
        training_budget(MODELS["gpt2"], TrainingRecipe(batch_size=size, seq_len=1024), cluster)
        for size in (8, 16)
    )
    found = {pair.name: pair for pair in side_by_side(a, b)}
    assert found["peak"].amounts == (a.item.amount, b.item.amount)
    assert found["weights"].ratio == 1
    assert found["activations"].difference > 0
    assert set(found) == {
        "peak",
        *(part.name for part in (*at_peak(a.largest), *at_peak(b.largest))),
    }
