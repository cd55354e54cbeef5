"""Which row comes next: the Python original of what ticks.js does in the browser."""

import pytest

from pages.components.ticks.ticks import TickRow, next_row

ROWS = (
    TickRow(slug="hard", title="Hard", needs=("easy",)),
    TickRow(slug="easy", title="Easy"),
    TickRow(slug="other", title="Other"),
)


@pytest.mark.parametrize(
    ("ticked", "expected"),
    [
        ((), "easy"),  # "hard" stands first but needs "easy"
        (("easy",), "hard"),
        (("easy", "hard"), "other"),
        (("other", "unknown"), "easy"),
    ],
)
def test_the_next_row_is_the_first_whose_needs_are_met(ticked, expected):
    assert next_row(ROWS, ticked).slug == expected


def test_with_every_row_ticked_there_is_no_next():
    assert next_row(ROWS, {"hard", "easy", "other"}) is None


def test_a_row_whose_needs_are_not_in_the_list_still_comes_in_the_end():
    row = TickRow(slug="alone", title="Alone", needs=("elsewhere",))

    assert next_row([row], ()) is row
