"""Items: sums, maxima, bands and words; formulas: what they give, show and refuse."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.budget import Formula
from core.budget.item import KINDS, Item, item, total
from tests.core.budget.refusals import refused

AREA = Formula("12 * width ** 2 + height // 2 - 1")


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_substituted_text_evaluates_to_the_number(width, height):
    values = {"width": width, "height": height}
    text = AREA.substituted(values)
    assert eval(text.replace(",", "")) == AREA.of(values)  # noqa: S307


def test_a_missing_name_is_named():
    with pytest.raises(KeyError, match="height"):
        AREA.of({"width": 3})


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.b", "[1]", "a if b else c", "'a' * 3", "a % b"]
)
def test_anything_but_arithmetic_is_refused(text):
    refused("a formula holds", Formula, text)


def test_largest_smallest_and_rounding_up_are_allowed():
    rule = Formula("max(ceil(bits / 8), min(-a, 7))")
    assert rule.of({"bits": 9, "a": -1}) == 2
    assert rule.substituted({"bits": 9, "a": -1}) == "max(ceil(9 / 8), min(--1, 7))"


@pytest.mark.parametrize("text", ["open('x')", "max(*a)", "max(a, key=b)", "print(1)", "+a"])
def test_no_other_function_can_be_called(text):
    refused("a formula holds", Formula, text)


def piece(name, amount, unit="bytes", kind="exact", **more):
    values = {"amount": amount}
    return item(name, Formula("amount"), values, unit=unit, source="a test", kind=kind, **more)


def test_a_total_is_the_sum_of_its_parts():
    whole = total("all", [piece("a b", 1000), piece("c", 24)], source="a test")
    assert whole.num_bytes == 1024
    assert (whole.formula, whole.substituted) == ("a_b + c", "1,000 + 24")
    assert (whole.kind, whole.low, whole.high) == ("exact", 1024, 1024)


def test_a_peak_is_the_largest_of_its_parts():
    peak = total("peak", [piece("a", 5), piece("b", 7)], source="a test", combine="max")
    assert peak.amount == 7
    assert (peak.formula, peak.substituted) == ("max(a, b)", "max(5, 7)")


def test_one_estimated_part_makes_the_total_an_estimate_with_its_band():
    whole = total("all", [piece("a", 100), piece("b", 100, kind="estimated", band=0.1)], source="")
    assert whole.kind == "estimated"
    assert (whole.low, whole.high) == (pytest.approx(190), pytest.approx(210))


def test_every_number_says_how_it_is_known():
    values = {"amount": 1}
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'kind'"):
        item("a", Formula("amount"), values, unit="bytes", source="a test")
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'kind'"):
        Item(name="a", amount=1, unit="bytes", low=1, high=1, source="a test")
    with pytest.raises(ValueError, match="a: kind is 'guessed'; use one of: exact, data sheet"):
        piece("a", 1, kind="guessed")


def test_a_number_is_known_no_better_than_its_weakest_part():
    parts = [piece(kind, amount, kind=kind) for amount, kind in enumerate(KINDS)]
    for size in range(1, 7):
        for chosen in permutations(parts, size):
            last = max(chosen, key=parts.index)
            for combine in ("sum", "max"):  # the maximum too: a part that loses may yet win
                assert total("all", chosen, source="", combine=combine).kind == last.kind
    with pytest.raises(ValueError, match="all is called exact; its weakest part is measured"):
        replace(total("all", parts[:3], source=""), kind="exact")


def test_units_are_never_added_up_across():
    with pytest.raises(ValueError, match=r"all needs parts in one unit, not in \['bytes', 's'\]"):
        total("all", [piece("a", 1), piece("b", 1, unit="s")], source="")


def test_only_bytes_are_read_as_bytes():
    with pytest.raises(ValueError, match="time is counted in s, not in bytes"):
        _ = piece("time", 3, unit="s").num_bytes
