"""The rules by which torch's CUDA allocator keeps memory that tensors no longer use.

It asks the driver for segments, cuts blocks from them, and gives nothing back before it must.
Rules and sizes: c10/cuda/CUDACachingAllocator.cpp of torch 2.13, one stream, no expandable
segments. What is here is an emulation in Python: no GPU is asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from core.language import _
from core.units import MIB, format_bytes

ROUND: Final = 512
SMALL: Final = MIB  # requests up to this are cut from small segments
SMALL_SEGMENT: Final = 2 * MIB
LARGE_SEGMENT: Final = 20 * MIB
LARGE: Final = 10 * MIB  # requests from this on get a segment of their own size
LARGE_ROUND: Final = 2 * MIB


class Block(NamedTuple):
    """A piece of a segment.

    Attributes:
        name: The tensor in it; "" if it is free.
    """

    num_bytes: int
    name: str


@dataclass(frozen=True, slots=True)
class Segment:
    """Memory that the driver gave in one piece; its blocks fill it."""

    blocks: tuple[Block, ...]

    @property
    def num_bytes(self) -> int:
        """Its size."""
        return sum(block.num_bytes for block in self.blocks)

    @property
    def is_small(self) -> bool:
        """Whether only requests of up to 1 MiB are cut from it."""
        return self.num_bytes == SMALL_SEGMENT

    @property
    def is_free(self) -> bool:
        """Whether no tensor lies in it."""
        return all(not block.name for block in self.blocks)


@dataclass(frozen=True, kw_only=True, slots=True)
class AllocatorState:
    """What the allocator holds; every change returns a new state.

    Attributes:
        peak: The most bytes in tensors since the last reset.
    """

    capacity: int
    segments: tuple[Segment, ...] = ()
    peak: int = 0

    @property
    def allocated(self) -> int:
        """Bytes of blocks with a tensor: `torch.cuda.memory_allocated()`."""
        return sum(block.num_bytes for block in self.blocks() if block.name)

    @property
    def reserved(self) -> int:
        """Bytes of all segments: `torch.cuda.memory_reserved()`; nvidia-smi adds the context."""
        return sum(segment.num_bytes for segment in self.segments)

    @property
    def largest_free(self) -> int:
        """The largest block without a tensor."""
        return max((block.num_bytes for block in self.blocks() if not block.name), default=0)

    def blocks(self) -> Iterator[Block]:
        """Yield every block."""
        for segment in self.segments:
            yield from segment.blocks

    def allocate(self, name: str, num_bytes: int) -> "AllocatorState":
        """Return the state with one more tensor.

        Raises:
            MemoryError: If neither the segments nor the driver have room; as torch says it.
        """
        size = max(-(-num_bytes // ROUND), 1) * ROUND
        found = self._best_block(size)
        state = self if found else self._with_segment(size)
        place, index = found or (len(state.segments) - 1, 0)
        segment = state.segments[place]
        changed = _cut(segment, index, Block(size, name))
        segments = (*state.segments[:place], changed, *state.segments[place + 1 :])
        state = replace(state, segments=segments)
        return replace(state, peak=max(state.peak, state.allocated))

    def free(self, name: str) -> "AllocatorState":
        """Return the state after the last reference to a tensor is gone: its block stays.

        Raises:
            KeyError: If there is no such tensor.
        """
        if name not in {block.name for block in self.blocks()}:
            raise KeyError(name)
        return replace(self, segments=tuple(_without(each, name) for each in self.segments))

    def empty_cache(self) -> "AllocatorState":
        """Return the state after the free segments went back to the driver."""
        kept = tuple(each for each in self.segments if not each.is_free)
        return replace(self, segments=kept)

    def reset_peak(self) -> "AllocatorState":
        """Return the state with the peak counted anew."""
        return replace(self, peak=self.allocated)

    def _best_block(self, size: int) -> tuple[int, int] | None:
        """Return segment and block of the smallest free block of the right pool that fits."""
        fitting = [
            (block.num_bytes, place, index)
            for place, segment in enumerate(self.segments)
            if segment.is_small == (size <= SMALL)
            for index, block in enumerate(segment.blocks)
            if not block.name and block.num_bytes >= size
        ]
        return min(fitting)[1:] if fitting else None

    def _with_segment(self, size: int) -> "AllocatorState":
        needed = segment_size(size)
        state = self
        if state.reserved + needed > state.capacity:
            state = state.empty_cache()  # the last resort before the error
        if state.reserved + needed > state.capacity:
            raise MemoryError(
                _(
                    "CUDA out of memory: tried to allocate {size}; {free} of {capacity} are free, "
                    "{idle} are reserved but unallocated.",
                    size=format_bytes(size),
                    free=format_bytes(state.capacity - state.reserved),
                    capacity=format_bytes(state.capacity),
                    idle=format_bytes(state.reserved - state.allocated),
                )
            )
        return replace(state, segments=(*state.segments, Segment((Block(needed, ""),))))


def segment_size(num_bytes: int) -> int:
    """Return what the allocator asks the driver for when no block is free for so many bytes.

    >>> segment_size(3_000_000) // MIB, segment_size(11_000_000) // MIB
    (20, 12)
    """
    size = max(-(-num_bytes // ROUND), 1) * ROUND
    if size <= SMALL:
        return SMALL_SEGMENT
    if size < LARGE:
        return LARGE_SEGMENT
    return -(-size // LARGE_ROUND) * LARGE_ROUND


def _cut(segment: Segment, index: int, block: Block) -> Segment:
    """Return the segment with a tensor at the head of a free block; a small rest stays in it."""
    rest = segment.blocks[index].num_bytes - block.num_bytes
    smallest = ROUND if segment.is_small else SMALL + 1
    whole = block._replace(num_bytes=block.num_bytes + rest)
    pieces = (whole,) if rest < smallest else (block, Block(rest, ""))
    return Segment((*segment.blocks[:index], *pieces, *segment.blocks[index + 1 :]))


def _without(segment: Segment, name: str) -> Segment:
    """Return the segment with the tensor's block free, joined with free neighbours."""
    blocks: list[Block] = []
    for each in segment.blocks:
        block = each._replace(name="") if each.name == name else each
        if blocks and not block.name and not blocks[-1].name:
            block = Block(blocks.pop().num_bytes + block.num_bytes, "")
        blocks.append(block)
    return Segment(tuple(blocks))
