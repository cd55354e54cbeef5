"""The segments of the allocator by their data."""

from core.budget.training.allocator_stories import replay
from core.budget.training.caching_allocator import AllocatorState
from core.figures.budget.training_memory.allocator_map import (
    allocator_alt,
    allocator_figure,
    allocator_table,
)
from core.figures.theme import MODES
from core.units import MIB

STATE = replay("holes")[5].state  # b free, c, d free; e; f


def test_blocks_fill_their_segments_and_carry_their_names():
    for mode, present in zip(MODES, (False, True), strict=True):
        tensors, free = allocator_figure(STATE, "GiB", mode, present=present).data
        assert list(tensors.text) == ["c", "e", "f"]
        assert list(tensors.base) == [30, 0, 0]
        assert list(free.x) == [30, 30]
        assert sum(tensors.x) + sum(free.x) == STATE.reserved / MIB


def test_nothing_reserved_is_said():
    figure = allocator_figure(AllocatorState(capacity=MIB), "GiB", "light")
    assert "no segment" in figure.layout.annotations[0].text


def test_the_sentence_and_the_table_say_the_same():
    assert allocator_alt(STATE, "GiB") == (
        "3 segments of together 230 MiB: 170 MiB in tensors, 60.0 MiB free but reserved, the "
        "largest free block 30.0 MiB."
    )
    table = allocator_table(STATE, "GiB")
    assert table["tensor"] == ["free", "c", "free", "e", "f"]
    assert table["begins at"][2] == "60.0 MiB"
