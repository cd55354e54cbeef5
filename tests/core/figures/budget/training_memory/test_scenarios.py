"""The waterfall by its data: every bar begins where the one before ended."""

from hypothesis import given
from hypothesis import strategies as st

from core.figures.budget.training_memory.scenarios import Rung, Way, signed, waterfall_picture
from core.figures.picture import Look
from core.figures.theme import COLORS
from core.units import GIB

WAY = Way(
    first="A",
    last="B",
    start=10 * GIB,
    rungs=(Rung("gradients", -4 * GIB, "bytes: 4 to 2"), Rung("activations", 2 * GIB)),
)


@given(st.lists(st.integers(-(10**9), 10**12), max_size=12))
def test_each_bar_begins_where_the_one_before_ended(changes):
    start = 10**11
    rungs = [Rung(f"{n}", c) for n, c in enumerate(changes)]
    way = Way(first="A", last="B", start=start, rungs=rungs)
    (bars,) = waterfall_picture(way, Look()).figure.data
    here = start
    for change, base, length in zip(changes, bars.base[1:-1], bars.x[1:-1], strict=True):
        assert (base, length) == (min(here, here + change), abs(change))
        here += change
    assert (bars.base[0], bars.x[0]) == (0, start)
    assert (bars.base[-1], bars.x[-1], way.end) == (0, here, here)


def test_growth_and_decrease_differ_in_colour_pattern_and_sign():
    (bars,) = waterfall_picture(WAY, Look(mode="dark", present=True)).figure.data
    color = COLORS["dark"]
    meanings = ("other", "shrank", "grew", "other")
    assert list(bars.marker.color) == [color[meaning] for meaning in meanings]
    assert list(bars.marker.pattern.shape) == ["", "/", "", ""]
    assert list(bars.text) == ["10.0 GiB", "−4.00 GiB", "+2.00 GiB", "8.00 GiB"]
    assert bars.customdata[1] == "bytes: 4 to 2"
    assert bars.constraintext == "none"  # or a thin bar makes its number small


def test_the_sentence_and_the_table_say_the_same():
    said = "A, 10.0 GiB, to B, 8.00 GiB: gradients −4.00 GiB, activations +2.00 GiB"
    assert said in waterfall_picture(WAY, Look()).alt
    assert waterfall_picture(WAY, Look(unit="GB")).table == {
        "step": ["A", "gradients", "activations", "B"],
        "change": ["", "−4.29 GB", "+2.15 GB", ""],
        "reached": ["10.7 GB", "6.44 GB", "8.59 GB", "8.59 GB"],
        "why": ["", "bytes: 4 to 2", "", ""],
    }


def test_two_equal_budgets_have_a_picture_too():
    way = Way(first="A", last="A", start=0, rungs=())
    picture = waterfall_picture(way, Look())
    assert len(picture.figure.data[0].x) == 2
    assert picture.alt == "From A, 0 B, to A, 0 B: nothing changes."
    assert signed(0, Look()) == "±0"


def test_small_changes_stand_together_in_the_last_one():
    way = Way(first="A", last="B", start=0, rungs=[Rung(f"{n}", n) for n in (1, 5, 2, -7)])
    short = way.shortened(2)
    rungs = [(rung.label, rung.change) for rung in short.rungs]
    assert rungs == [("5", 5), ("-7", -7), ("the rest", 3)]
    assert short.end == way.end
    assert way.shortened(4).rungs == way.rungs
