"""Runs in one picture: every line is its run, and the words say what the lines show."""

from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from core.train.run.evaluations import Curve
from pages.train.live_run.compare import MAX_RUNS, compare_picture, run_names


def curve(number, title="one-minute", losses=(4.0, 3.0, 3.25)):
    steps = tuple(range(10, 10 * len(losses) + 1, 10))
    return Curve(
        run=f"20260102t030405z-a-{number:04x}", title=title, steps=steps, losses=tuple(losses)
    )


def sentence(curves):
    return compare_picture(curves, Look()).alt


A, B = curve(1, "wide", (4.0, 3.0, 3.25)), curve(2, "deep", (4.5, 3.5))


@pytest.mark.parametrize("mode", MODES)
def test_each_run_is_a_line_of_its_own_losses(mode):
    figure = compare_picture([A, B], Look(mode=mode)).figure
    assert [(line.name, line.x, line.y) for line in figure.data] == [
        ("wide", A.steps, A.losses),
        ("deep", B.steps, B.losses),
    ]
    assert figure.layout.paper_bgcolor in {COLORS[mode]["background"], "rgba(0,0,0,0)", None}


def test_lines_differ_in_dash_and_mark_not_in_colour_only():
    curves = [curve(n, str(n)) for n in range(MAX_RUNS)]
    lines = compare_picture(curves, Look()).figure.data
    for look in ("line.color", "line.dash", "marker.symbol"):
        first, second = look.split(".")
        assert len({getattr(getattr(line, first), second) for line in lines}) == MAX_RUNS, look


@pytest.mark.parametrize(
    ("runs", "marks"),
    [
        (("20260102t030405z-a-0001", "20260102t040506z-a-0002"), ("03:04:05", "04:05:06")),
        (
            ("20260102t030405z-a-0001", "20260103t030405z-a-0002"),
            ("2026-01-02 03:04:05", "2026-01-03 03:04:05"),
        ),
        (
            ("20260102t030405z-a-0001", "20260102t030405z-a-0002"),
            ("03:04:05 0001", "03:04:05 0002"),
        ),
    ],
)
def test_runs_of_one_title_are_told_apart_by_the_time_that_the_list_shows(runs, marks):
    assert run_names([replace(A, run=run) for run in runs]) == [f"wide {mark}" for mark in marks]


def test_their_time_is_the_readers_and_so_is_the_day():
    east, west = (timezone(timedelta(hours=hours)) for hours in (8, -8))
    runs = [replace(A, run=f"20260102t{hour}0405z-a-0001") for hour in ("06", "20")]
    assert run_names(runs) == ["wide 06:04:05", "wide 20:04:05"]
    assert run_names(runs, east) == ["wide 2026-01-02 14:04:05", "wide 2026-01-03 04:04:05"]
    assert run_names(runs, west) == ["wide 2026-01-01 22:04:05", "wide 2026-01-02 12:04:05"]


def test_the_sentence_names_the_lowest_losses_and_the_winner():
    assert sentence([B, A]) == (
        "Lowest validation loss: deep: 3.500 at step 20; wide: 3.000 at step 20. "
        "wide has the lowest of all."
    )
    assert sentence([A]) == "Lowest validation loss: wide: 3.000 at step 20."
    assert "has been evaluated" in sentence([curve(3, losses=())])


def test_losses_of_different_texts_have_no_winner():
    said = sentence([replace(A, text=("one",)), replace(B, text=("other",))])
    assert "the lowest of all" not in said
    assert "the lower loss is not the better model" in said


def test_the_table_has_every_step_and_leaves_gaps_empty():
    assert compare_picture([A, B], Look()).table == {
        "step": [10, 20, 30],
        "wide": [4.0, 3.0, 3.25],
        "deep": [4.5, 3.5, ""],
    }
