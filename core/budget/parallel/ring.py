"""An all-reduce on a ring, step by step, on real arrays: reduce-scatter, then all-gather.

Each of N ranks cuts its array into N chunks. In N - 1 steps every rank adds the chunk that comes
from its left neighbour and hands it on, until it holds one chunk summed over all ranks; in N - 1
further steps the finished chunks go round (Patarasuk and Yuan 2009; NCCL's ring does the same).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from core.budget.check import check_range
from core.language import _

Phase = Literal["start", "reduce-scatter", "all-gather"]
Array = npt.NDArray[np.float32]
PHASES: Final[tuple[Phase, ...]] = ("reduce-scatter", "all-gather")
MAX_RANKS: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Send:
    """One chunk on its way."""

    source: int
    target: int
    chunk: int
    num_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RingStep:
    """What was sent in one step, and what every rank holds after it.

    Attributes:
        phase: "start" before anything is sent.
        values: Rank -> chunk -> its values.
        ranks_in: Rank -> chunk -> whose values are in the sum.
    """

    phase: Phase
    sends: tuple[Send, ...]
    values: tuple[tuple[tuple[float, ...], ...], ...]
    ranks_in: tuple[tuple[frozenset[int], ...], ...]


def ring_all_reduce(arrays: Sequence[Sequence[float]]) -> tuple[RingStep, ...]:
    """Return the start and the 2 (N - 1) steps that leave the sum in every rank, in float32.

    Raises:
        ValueError: If there are too few or too many ranks, or their arrays differ in length or
            cannot be cut into N equal chunks.
    """
    num_ranks = len(arrays)
    check_range("num_ranks", num_ranks, 2, MAX_RANKS)
    lengths = {len(array) for array in arrays}
    if len(lengths) != 1 or lengths.pop() % num_ranks:
        raise ValueError(
            _("All ranks need arrays of one length, a multiple of the {ranks} ranks.").format(
                ranks=num_ranks
            )
        )
    chunks = [np.split(np.asarray(array, np.float32), num_ranks) for array in arrays]
    owners = [[frozenset({rank})] * num_ranks for rank in range(num_ranks)]
    turns: list[tuple[Phase, int]] = [
        (phase, turn) for phase in PHASES for turn in range(num_ranks - 1)
    ]
    start = _seen("start", (), chunks, owners)
    return (start, *(_turn(phase, turn, chunks, owners) for phase, turn in turns))


def _turn(
    phase: Phase, turn: int, chunks: list[list[Array]], owners: list[list[frozenset[int]]]
) -> RingStep:
    """Send one chunk from every rank to the right, all at once."""
    num_ranks = len(chunks)
    first = 0 if phase == "reduce-scatter" else 1
    sent = [(rank, (rank + first - turn) % num_ranks) for rank in range(num_ranks)]
    parcels = [(chunks[rank][chunk].copy(), owners[rank][chunk]) for rank, chunk in sent]
    sends = []
    for (rank, chunk), (values, whose) in zip(sent, parcels, strict=True):
        right = (rank + 1) % num_ranks
        adds = phase == "reduce-scatter"
        chunks[right][chunk] = chunks[right][chunk] + values if adds else values
        owners[right][chunk] = owners[right][chunk] | whose if adds else whose
        sends.append(Send(source=rank, target=right, chunk=chunk, num_bytes=values.nbytes))
    return _seen(phase, tuple(sends), chunks, owners)


def _seen(
    phase: Phase,
    sends: tuple[Send, ...],
    chunks: list[list[Array]],
    owners: list[list[frozenset[int]]],
) -> RingStep:
    values = tuple(tuple(tuple(map(float, chunk)) for chunk in rank) for rank in chunks)
    return RingStep(
        phase=phase, sends=sends, values=values, ranks_in=tuple(tuple(rank) for rank in owners)
    )


def bytes_sent(steps: Sequence[RingStep], rank: int) -> int:
    """Return what one rank has sent in these steps."""
    return sum(send.num_bytes for step in steps for send in step.sends if send.source == rank)


def times_sent(num_ranks: int) -> float:
    """Return how many times its own array a rank sends in an all-reduce: 2 (N - 1) / N.

    >>> times_sent(8)
    1.75

    Raises:
        ValueError: If there are no ranks.
    """
    check_range("num_ranks", num_ranks, 1, 1_000_000)
    return 2 * (num_ranks - 1) / num_ranks
