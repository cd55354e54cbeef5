"""Published figures: every row is whole, and ours comes as near as the row promises."""

from collections import Counter

import pytest

from core.budget.serving.decode_speeds import published_speeds
from core.language import LANGUAGES
from tests.core.budget.comparison.published import KINDS, published, read_published
from tests.core.budget.comparison.rederived import REDERIVED, rederive
from tests.core.budget.refusals import refused

ROW = """
[[figure]]
slug = "a"
number = 1
title = {{ en = "A", zh = "甲" }}
value = {value}
printed = "1"
unit = "bytes"
kind = "{kind}"
origin = "{origin}"
tolerance = {tolerance}
quantity = "{quantity}"
source = "{source}"
"""
GOOD = {
    "value": 1,
    "kind": "allocated",
    "origin": "printed",
    "tolerance": 0.1,
    "quantity": "",
    "source": "a paper",
}
UNITS = {"MB (MiB)": 2**20, "GiB": 2**30, "GB": 1e9, "": 1, "tokens/s": 1}


@pytest.mark.parametrize("slug", published())
def test_ours_comes_as_near_to_the_published_figure_as_its_row_promises(slug):
    figure = published()[slug]
    ours = rederive(figure)
    if ours is None:
        assert figure.note["en"], "without a figure of ours the row says why"
        return
    assert ours.unit == figure.unit
    if figure.tolerance is None:
        assert ours.low <= figure.value <= ours.high, (ours.low, ours.amount, ours.high)
    else:
        error = figure.error(ours.amount)
        assert abs(error) <= figure.tolerance, f"{ours.amount:,} is {error:+.2%} off"


def test_every_row_speaks_both_languages_and_every_quantity_is_used():
    rows = published().values()
    for row in rows:
        assert set(row.title) == set(LANGUAGES), row.slug
        assert set(row.note) in ({*LANGUAGES}, set()), row.slug
    assert {row.quantity for row in rows} - {""} == set(REDERIVED)


def test_the_ground_truths_of_this_issue_have_their_rows():
    numbers = {row.number for row in published().values()}
    assert numbers >= {5, 19, 21, 22, 28}
    assert {row.kind for row in published().values()} >= {"allocated", "reserved", "counted"}


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


def test_the_error_has_a_sign():
    (figure,) = read_published(ROW.format(**GOOD | {"value": 100})).values()
    assert figure.error(97) == pytest.approx(-0.03)


def test_a_row_that_promises_nothing_is_refused():
    for change, sentence in (
        ({"kind": "guessed"}, f"kind is 'guessed'; use one of: {', '.join(KINDS)}"),
        ({"origin": "luck"}, "origin is 'luck'; use one of: printed, derived, fitted"),
        ({"value": 0}, "a: the value 0 must be positive"),
        ({"tolerance": 0.9}, "a: the tolerance 0.9 is no honest one"),
        ({"source": ""}, "a: source, title and printed must be given"),
    ):
        refused(sentence, read_published, ROW.format(**GOOD | change))


def test_a_run_that_did_what_no_budget_counts_is_no_proof_of_a_band():
    flagged = {"tolerance": '"band"\nnot_counted = ["compile"]'}
    refused(
        "a run with compile is no proof of a band", read_published, ROW.format(**GOOD | flagged)
    )
    unknown = {"tolerance": '0.1\nnot_counted = ["luck"]'}
    refused(
        "not_counted is 'luck'; use one of: compile", read_published, ROW.format(**GOOD | unknown)
    )
    proofs = {row.slug for row in published().values() if row.tolerance is None}
    assert proofs == {"litgpt-7b-lora-1", "litgpt-7b-lora-2", "litgpt-13b-lora-1"}


def test_a_slug_stands_once_and_a_quantity_must_be_known():
    row = ROW.format(**GOOD)
    refused("a stands twice", read_published, row + row)
    (figure,) = read_published(ROW.format(**GOOD | {"quantity": "luck"})).values()
    refused("a: nothing computes 'luck'", rederive, figure)
