"""The segments of the allocator by their data."""

from core.budget.training.allocator_stories import replay
from core.budget.training.caching_allocator import AllocatorState
from core.figures.picture import Look
from core.figures.theme import MODES
from core.units import MIB
from pages.plan.training_memory.allocator import allocator_picture

STATE = replay("holes")[5].state  # b free, c, d free; e; f


def test_blocks_fill_their_segments_and_carry_their_names():
    for mode, present in zip(MODES, (False, True), strict=True):
        tensors, free = allocator_picture(STATE, Look(mode=mode, present=present)).figure.data
        assert list(tensors.text) == ["c", "e", "f"]
        assert list(tensors.base) == [30, 0, 0]
        assert list(free.x) == [30, 30]
        assert sum(tensors.x) + sum(free.x) == STATE.reserved / MIB


def test_nothing_reserved_is_said():
    figure = allocator_picture(AllocatorState(capacity=MIB), Look()).figure
    assert "no segment" in figure.layout.annotations[0].text


def test_the_sentence_and_the_table_say_the_same():
    picture = allocator_picture(STATE, Look())
    assert "3 segments of together 230 MiB: 170 MiB in tensors, 60.0 MiB free" in picture.alt
    assert picture.alt.endswith("block 30.0 MiB.")
    assert picture.table["tensor"] == ["free", "c", "free", "e", "f"]
    assert picture.table["begins at"][2] == "60.0 MiB"
