"""Published figures: every row is whole, and ours comes as near as the row promises."""

from collections import Counter

import pytest

from core.budget.serving.decode_speeds import published_speeds
from core.budget.training.memory import NOT_COUNTED
from core.language import LANGUAGES
from tests.core.budget.comparison.published import KINDS, published
from tests.core.budget.comparison.rederived import REDERIVED, rederive

UNITS = {"MB (MiB)": 2**20, "GiB": 2**30, "GB": 1e9, "": 1, "tokens/s": 1}


@pytest.mark.parametrize("slug", published())
def test_ours_comes_as_near_to_the_published_figure_as_its_row_promises(slug):
    figure = published()[slug]
    ours = rederive(figure)
    if ours is None:
        assert figure.note["en"], "without a figure of ours the row says why"
        return
    assert ours.unit == figure.unit
    if figure.tolerance == "band":
        assert ours.low <= figure.value <= ours.high, (ours.low, ours.amount, ours.high)
    else:
        error = figure.error(ours.amount)
        assert abs(error) <= figure.tolerance, f"{ours.amount:,} is {error:+.2%} off"


def test_every_row_is_whole_speaks_both_languages_and_every_quantity_is_used():
    rows = published().values()
    for row in rows:
        assert set(row.title) == set(LANGUAGES), row.slug
        assert set(row.note) in ({*LANGUAGES}, set()), row.slug
        assert row.kind in KINDS, row.slug
        assert set(row.not_counted) <= set(NOT_COUNTED), row.slug
        assert row.tolerance == "band" or 0 <= row.tolerance <= 0.5, row.slug
        assert not (row.not_counted and row.tolerance == "band"), row.slug
        assert row.value > 0, row.slug
        assert row.source, row.slug
    assert {row.quantity for row in rows} - {""} == set(REDERIVED)


def test_independent_derived_and_fitted_figures_are_counted_apart():
    counted = Counter(row.origin for row in published().values())
    assert counted == {"printed": 25, "derived": 14, "fitted": 8}


def test_a_fitted_figure_is_a_row_of_the_fit_and_no_other_is():
    learned = {row.tokens_per_second for row in published_speeds()}
    for figure in published().values():
        in_sample = figure.unit == "tokens/s" and figure.value in learned
        assert in_sample == (figure.origin == "fitted"), figure.slug
        assert in_sample == (figure.quantity == "decode_speed"), figure.slug


def test_a_figure_that_others_printed_is_the_number_that_they_printed():
    for figure in published().values():
        number, _space, unit = figure.printed.partition(" ")
        if figure.origin == "derived":
            continue
        digits = len(number.partition("e")[0].partition(".")[2])
        value = float(number.replace(",", "")) * UNITS[unit]
        step = 10.0**-digits * (10.0 ** float(number.partition("e")[2] or 0)) * UNITS[unit]
        assert figure.value == pytest.approx(value, abs=step / 2), figure.slug
