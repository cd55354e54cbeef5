"""The waterfall by its data: every bar begins where the one before ended."""

from hypothesis import given
from hypothesis import strategies as st

from core.figures.budget.training_memory.waterfall import (
    Rung,
    Way,
    signed,
    waterfall_alt,
    waterfall_figure,
    waterfall_table,
)
from core.figures.theme import COLORS

GIB = 1 << 30
WAY = Way(
    first="A",
    last="B",
    start=10 * GIB,
    rungs=(Rung("gradients", -4 * GIB, "bytes: 4 to 2"), Rung("activations", 2 * GIB)),
)


@given(st.lists(st.integers(-(10**9), 10**12), max_size=12))
def test_each_bar_begins_where_the_one_before_ended(changes):
    start = 10**11
    way = Way(
        first="A", last="B", start=start, rungs=[Rung(f"{n}", c) for n, c in enumerate(changes)]
    )
    (bars,) = waterfall_figure(way, "GiB", "light").data
    here = start
    for change, base, length in zip(changes, bars.base[1:-1], bars.x[1:-1], strict=True):
        assert (base, length) == (min(here, here + change), abs(change))
        here += change
    assert (bars.base[0], bars.x[0]) == (0, start)
    assert (bars.base[-1], bars.x[-1], way.end) == (0, here, here)


def test_growth_and_decrease_differ_in_colour_pattern_and_sign():
    (bars,) = waterfall_figure(WAY, "GiB", "dark", present=True).data
    color = COLORS["dark"]
    assert list(bars.marker.color) == [
        color["other"],
        color["shrank"],
        color["grew"],
        color["other"],
    ]
    assert list(bars.marker.pattern.shape) == ["", "/", "", ""]
    assert list(bars.text) == ["10.0 GiB", "−4.00 GiB", "+2.00 GiB", "8.00 GiB"]
    assert bars.customdata[1] == "bytes: 4 to 2"
    assert bars.constraintext == "none"  # or a thin bar makes its number small


def test_the_sentence_and_the_table_say_the_same():
    assert waterfall_alt(WAY, "GiB") == (
        "From A, 10.0 GiB, to B, 8.00 GiB: gradients −4.00 GiB, activations +2.00 GiB."
    )
    assert waterfall_table(WAY, "GB") == {
        "step": ["A", "gradients", "activations", "B"],
        "change": ["", "−4.29 GB", "+2.15 GB", ""],
        "reached": ["10.7 GB", "6.44 GB", "8.59 GB", "8.59 GB"],
        "why": ["", "bytes: 4 to 2", "", ""],
    }


def test_two_equal_budgets_have_a_picture_too():
    way = Way(first="A", last="A", start=0, rungs=())
    assert len(waterfall_figure(way, "GiB", "light").data[0].x) == 2
    assert waterfall_alt(way, "GiB") == "From A, 0 B, to A, 0 B: nothing changes."
    assert signed(0, "GiB") == "±0"
