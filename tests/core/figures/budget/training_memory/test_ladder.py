"""The ladder by its data."""

import pytest

from core.figures.budget.training_memory.ladder import PRESENTED, LadderRow, ladder_picture
from core.figures.picture import Look
from core.units import GIB

ROWS = (
    LadderRow("as it comes", 25.5 * GIB, None),
    LadderRow("packed", 60 * GIB, 57 * GIB),
    LadderRow("8 bits", 17.5 * GIB, 17.5 * GIB),
)


def test_each_rung_has_a_bar_of_ours_and_a_mark_of_the_published_figure():
    for look in (Look(), Look(mode="dark", present=True)):
        bars, marks = ladder_picture(ROWS, 1, look).figure.data
        assert list(bars.x) == [0, 57 * GIB, 17.5 * GIB]
        assert list(marks.x) == [row.published for row in ROWS]
        assert list(bars.marker.opacity) == [0.35, 1, 0.35]


def test_the_words_stand_right_of_both_and_name_the_error():
    notes = ladder_picture(ROWS, 0, Look()).figure.layout.annotations
    assert [note.x for note in notes] == [row.published for row in ROWS]
    words = [note.text.strip() for note in notes]
    assert words == ["25.5 GiB", "60.0 GiB (−5.0 %)", "17.5 GiB (±0.0 %)"]


def test_a_projector_shows_the_rungs_around_the_chosen_one():
    many = [LadderRow(str(place), GIB, GIB) for place in range(2 * PRESENTED)]
    for chosen, first in ((0, 0), (5, 3), (9, 5)):
        picture = ladder_picture(many, chosen, Look(present=True))
        shown = [str(place) for place in range(first, first + PRESENTED)]
        assert list(picture.figure.layout.yaxis.ticktext) == shown, chosen
        assert len(picture.table["rung"]) == len(many)


def test_the_sentence_and_the_table_say_the_same():
    picture = ladder_picture(ROWS, 0, Look())
    assert "packed: 60.0 GiB, ours 57.0 GiB (−5.0 %); 8 bits" in picture.alt
    table = ladder_picture(ROWS, 0, Look(unit="GB")).table
    assert table["published"] == ["27.4 GB", "64.4 GB", "18.8 GB"]
    assert table["ours"] == ["", "61.2 GB", "18.8 GB"]
    assert table["error"] == ["", "−5.0 %", "±0.0 %"]
    assert ROWS[1].error == pytest.approx(-0.05)
