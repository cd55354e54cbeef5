"""Claims on their scale, by the data."""

from dataclasses import replace

import pytest

from core.budget.claims.claim import CLAIMS
from core.budget.claims.referee import rule
from core.figures.budget.what_fits.claims import VERDICTS, Row, claims_picture, shown_ratio
from core.figures.picture import Look

ROWS = tuple(
    Row(key=key, number=f"{place}", label=claim.text, ruling=rule(claim))
    for place, (key, claim) in enumerate(CLAIMS.items(), start=1)
)


def test_each_claim_has_one_mark_at_its_ratio_in_the_trace_of_its_verdict():
    figure = claims_picture(ROWS, "matmul-4090", Look()).figure
    marks = {
        row[0]: (trace.name, x)
        for trace in figure.data
        for x, row in zip(trace.x, trace.customdata or (), strict=True)
    }

    assert set(marks) == set(CLAIMS)
    for row in ROWS:
        found = (VERDICTS[row.ruling.verdict], shown_ratio(row.ruling))
        assert marks[row.key] == found, row.key
    assert len({trace.marker.symbol for trace in figure.data}) == len(VERDICTS)


def test_the_chosen_claim_is_bold_and_the_bound_is_a_line():
    figure = claims_picture(ROWS, "h100-1979", Look(mode="dark")).figure

    bold = [text for text in figure.layout.yaxis.ticktext if text.startswith("<b>")]
    assert [text.replace("<br>", " ") for text in bold] == [f"<b>9 {CLAIMS['h100-1979'].text}</b>"]
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 1


def test_every_impossible_claim_is_right_of_the_bound_and_every_possible_one_left():
    for key, ruling in ((row.key, row.ruling) for row in ROWS):
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
    assert len(picture.table["claim"]) == len(picture.table["verdict"]) == len(CLAIMS)


def test_a_long_claim_stands_in_lines_and_on_a_projector_its_number_alone():
    chinese = replace(
        ROWS[0], label="一张 RTX 4090 上两个 4096 × 4096 矩阵相乘只要 0.05 毫秒，比峰值还快"
    )
    figure = claims_picture((chinese, *ROWS[1:]), "", Look()).figure
    for text, row in zip(figure.layout.yaxis.ticktext, (chinese, *ROWS[1:]), strict=True):
        lines = text.split("<br>")
        assert max(map(len, lines)) <= 46, text
        assert "".join(lines).replace(" ", "") == f"{row.number}{row.label}".replace(" ", "")
    assert len(figure.layout.yaxis.ticktext[0].split("<br>")) == 2

    small = claims_picture(ROWS, "", Look(present=True)).figure
    assert list(small.layout.yaxis.ticktext) == [row.number for row in ROWS]
