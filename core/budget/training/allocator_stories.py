"""Short programs and what the allocator does at each of their lines."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from core.budget.table import read_table
from core.budget.training.caching_allocator import AllocatorState
from core.units import KIB, MIB

CAPACITY: Final = 256 * MIB


class Line(NamedTuple):
    """A line of a program.

    Attributes:
        frees: Tensors whose last reference is gone after it.
        makes: Name and bytes of the tensors that it makes.
        call: "empty_cache" or "reset_peak", if it calls that.
    """

    code: str
    note: str
    makes: tuple[tuple[str, int], ...] = ()
    frees: tuple[str, ...] = ()
    call: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """The allocator after a line; `error` is what torch raised, "" if nothing."""

    line: Line
    state: AllocatorState
    error: str = ""


def _line(row: dict[str, Any]) -> Line:
    makes = tuple((name, kib * KIB) for name, kib in row.pop("makes", {}).items())
    return Line(makes=makes, frees=tuple(row.pop("frees", ())), **row)


STORIES: Final = {story: tuple(map(_line, rows)) for story, rows in read_table(__file__).items()}
"""Key, as in a link -> program. A line that fails ends nothing: the next one is tried."""


def replay(story: str) -> tuple[Moment, ...]:
    """Return the allocator after each line of a story.

    Raises:
        KeyError: If there is no such story.
    """
    state = AllocatorState(capacity=CAPACITY)
    moments = []
    for line in STORIES[story]:
        state, error = _run(state, line)
        moments.append(Moment(line=line, state=state, error=error))
    return tuple(moments)


def _run(state: AllocatorState, line: Line) -> tuple[AllocatorState, str]:
    before = state
    try:
        for name, num_bytes in line.makes:
            state = state.allocate(name, num_bytes)
    except MemoryError as error:
        return before, str(error)
    for name in line.frees:
        state = state.free(name)
    if line.call == "empty_cache":
        state = state.empty_cache()
    return (state.reset_peak() if line.call == "reset_peak" else state), ""
