"""The ladder by its data."""

import pytest

from core.figures.budget.training_memory.ladder import (
    LadderRow,
    ladder_alt,
    ladder_figure,
    ladder_table,
)

GIB = 1 << 30
ROWS = (
    LadderRow("as it comes", 25.5 * GIB, None),
    LadderRow("packed", 60 * GIB, 57 * GIB),
    LadderRow("8 bits", 17.5 * GIB, 17.5 * GIB),
)


def test_each_rung_has_a_bar_of_ours_and_a_mark_of_the_published_figure():
    for mode, present in (("light", False), ("dark", True)):
        bars, marks = ladder_figure(ROWS, 1, "GiB", mode, present=present).data
        assert list(bars.x) == [0, 57 * GIB, 17.5 * GIB]
        assert list(marks.x) == [row.published for row in ROWS]
        assert list(bars.marker.opacity) == [0.35, 1, 0.35]


def test_the_words_stand_right_of_both_and_name_the_error():
    notes = ladder_figure(ROWS, 0, "GiB", "light").layout.annotations
    assert [note.x for note in notes] == [row.published for row in ROWS]
    assert notes[0].text.strip() == "25.5 GiB"
    assert notes[1].text.strip() == "60.0 GiB (−5.0 %)"
    assert notes[2].text.strip() == "17.5 GiB (±0.0 %)"


def test_the_sentence_and_the_table_say_the_same():
    assert "packed: 60.0 GiB, ours 57.0 GiB (−5.0 %); 8 bits" in ladder_alt(ROWS, "GiB")
    table = ladder_table(ROWS, "GB")
    assert table["published"] == ["27.4 GB", "64.4 GB", "18.8 GB"]
    assert table["ours"] == ["", "61.2 GB", "18.8 GB"]
    assert table["error"] == ["", "−5.0 %", "±0.0 %"]
    assert ROWS[1].error == pytest.approx(-0.05)
