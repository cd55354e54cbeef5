"""Items: sums, maxima, bands and words."""

import pytest

from core.budget import Formula
from core.budget.item import item, total


def piece(name, amount, unit="bytes", **more):
    return item(name, Formula("amount"), {"amount": amount}, unit=unit, source="a test", **more)


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


def test_units_are_never_added_up_across():
    with pytest.raises(ValueError, match=r"all needs parts in one unit, not in \['bytes', 's'\]"):
        total("all", [piece("a", 1), piece("b", 1, unit="s")], source="")


def test_only_bytes_are_read_as_bytes():
    with pytest.raises(ValueError, match="time is counted in s, not in bytes"):
        _ = piece("time", 3, unit="s").num_bytes


def test_a_part_is_found_by_name():
    whole = total("all", [piece("a", 1), piece("b", 2)], source="")
    assert whole.child("b").amount == 2
    with pytest.raises(KeyError, match="c"):
        whole.child("c")
