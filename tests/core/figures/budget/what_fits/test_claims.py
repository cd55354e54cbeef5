"""Claims on their scale, by the data."""

from dataclasses import replace

import pytest

from core.budget.claims.claim import CLAIMS
from core.budget.claims.referee import rule
from core.figures.budget.what_fits.claims import VERDICTS, claims_picture, shown_ratio
from core.figures.picture import Look

ROWS = tuple((key, claim.text, rule(claim)) for key, claim in CLAIMS.items())


def test_each_claim_has_one_mark_at_its_ratio_in_the_trace_of_its_verdict():
    figure = claims_picture(ROWS, "matmul-4090", Look()).figure
    marks = {
        row[0]: (trace.name, x)
        for trace in figure.data
        for x, row in zip(trace.x, trace.customdata or (), strict=True)
    }

    assert set(marks) == set(CLAIMS)
    for key, _label, ruling in ROWS:
        name, x = marks[key]
        assert (name, x) == (VERDICTS[ruling.verdict], shown_ratio(ruling)), key
    assert len({trace.marker.symbol for trace in figure.data}) == len(VERDICTS)


def test_the_chosen_claim_is_bold_and_the_bound_is_a_line():
    figure = claims_picture(ROWS, "h100-1979", Look(mode="dark", present=True)).figure

    bold = [text for text in figure.layout.yaxis.ticktext if text.startswith("<b>")]
    assert bold == [f"<b>{CLAIMS['h100-1979'].text}</b>"]
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 1


def test_every_impossible_claim_is_right_of_the_bound_and_every_possible_one_left():
    for key, _label, ruling in ROWS:
        if ruling.verdict == "impossible":
            assert shown_ratio(ruling) > 1, key
        if ruling.verdict == "possible" and ruling.claim.kind != "needs":
            assert shown_ratio(ruling) <= 1, key


def test_what_does_not_fit_is_drawn_by_its_bytes():
    ruling = rule(CLAIMS["70b-on-a-4090"])

    assert ruling.ratio < 1
    assert shown_ratio(ruling) == pytest.approx(128.5 / 24, rel=0.01)


def test_no_ratio_leaves_the_axis():
    ruling = rule(CLAIMS["matmul-4090"])

    assert shown_ratio(replace(ruling, ratio=float("inf"))) == 1e3
    assert shown_ratio(replace(ruling, ratio=0.0)) == 1e-3


def test_words_and_table_have_every_claim():
    picture = claims_picture(ROWS, "matmul-4090", Look())

    assert "17 times the bound, impossible" in picture.alt
    made_up = [source == "made-up example" for source in picture.table["said in"]]
    assert made_up == [claim.is_made_up for claim in CLAIMS.values()]
    assert sum(made_up) == 2
    assert len(picture.table["claim"]) == len(picture.table["ruling"]) == len(CLAIMS)
