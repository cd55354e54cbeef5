"""The allocator's rules, on made-up tensors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.budget.training.caching_allocator import AllocatorState, Block
from core.units import GIB, KIB, MIB

EMPTY = AllocatorState(capacity=GIB)


def test_requests_are_rounded_to_512_bytes_and_small_ones_share_a_segment_of_2_mib():
    # C46: torch.zeros(32, 32) twice raises memory_allocated() by 8,192 bytes
    state = EMPTY.allocate("a", 32 * 32 * 4).allocate("b", 32 * 32 * 4)
    assert (state.allocated, state.reserved) == (8192, 2 * MIB)
    assert EMPTY.allocate("one byte", 1).allocated == 512


def test_segments_have_the_sizes_of_the_allocators_source():
    for num_bytes, segment in (
        (MIB, 2 * MIB),
        (MIB + 1, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (11 * MIB, 12 * MIB),
    ):
        assert EMPTY.allocate("a", num_bytes).reserved == segment, num_bytes


def test_a_large_block_is_cut_only_if_more_than_1_mib_remains():
    state = EMPTY.allocate("a", 40 * MIB).free("a")
    assert list(state.allocate("b", 39 * MIB).blocks()) == [Block(40 * MIB, "b")]
    assert len(list(state.allocate("b", 38 * MIB).blocks())) == 2


def test_the_smallest_free_block_that_fits_is_taken_and_neighbours_are_joined():
    state = EMPTY.allocate("a", 40 * MIB).allocate("b", 20 * MIB).free("a").free("b")
    assert [s.is_free for s in state.allocate("c", 15 * MIB).segments] == [True, False]
    cut = state.allocate("c", 10 * MIB).allocate("d", 10 * MIB).free("c").free("d")
    assert list(cut.blocks()) == [Block(40 * MIB, ""), Block(20 * MIB, "")]


def test_before_the_error_free_segments_go_back_to_the_driver():
    tight = AllocatorState(capacity=100 * MIB)
    state = tight.allocate("a", 60 * MIB).free("a").allocate("b", 80 * MIB)
    assert state.reserved == 80 * MIB
    with pytest.raises(MemoryError, match=r"20\.0 MiB of 100 MiB are free"):
        state.allocate("c", 40 * MIB)


def test_empty_cache_frees_no_tensor_and_the_peak_counts_from_its_reset():
    state = EMPTY.allocate("a", 30 * MIB).allocate("b", 50 * MIB).free("b").empty_cache()
    assert (state.allocated, state.reserved, state.peak) == (30 * MIB, 30 * MIB, 80 * MIB)
    assert state.reset_peak().peak == 30 * MIB
    with pytest.raises(KeyError, match="b"):
        state.free("b")


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 64 * MIB)), max_size=30))
def test_whatever_happens_tensors_lie_inside_segments_and_keep_their_bytes(actions):
    state, living = EMPTY, {}
    for number, (is_new, num_bytes) in enumerate(actions):
        if is_new or not living:
            try:
                state = state.allocate(str(number), num_bytes)
            except MemoryError:
                continue
            living[str(number)] = num_bytes
        else:
            name = next(iter(living))
            state = state.free(name)
            del living[name]
    assert {block.name for block in state.blocks() if block.name} == set(living)
    assert sum(living.values()) <= state.allocated <= state.reserved <= state.capacity
    assert state.allocated - sum(living.values()) <= len(living) * (MIB + 512)
    for segment in state.segments:  # no two free blocks lie side by side
        pairs = zip(segment.blocks, segment.blocks[1:], strict=False)
        assert all(left.name or right.name for left, right in pairs)
        assert all(block.num_bytes % (KIB // 2) == 0 for block in segment.blocks)
