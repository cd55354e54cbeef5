"""The events of a snapshot, gone through: what was in tensors and reserved after each.

The form is that of torch's CUDACachingAllocator, 2.0 to 2.13: "segments" with "blocks", and for
each GPU a list of events, a ring of which the beginning may be lost. The end is known from the
segments, so the events are counted back from there. An event has the bytes that were asked for;
the size of a block is that, rounded up.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

from core.budget.diagnosis.snapshot.answer import (
    CATEGORIES,
    Block,
    Category,
    Line,
    Point,
    Snapshot,
)
from core.budget.diagnosis.snapshot.stacks import MAX_NAME, Frames, Stacks, place_of, text

MOST_BLOCKS: Final = 20
MOST_KINDS: Final = 16  # torch knows ten
NUM_BUCKETS: Final = 200  # of the recorded time; each gives at most three points
_LONG: Final = 100_000  # events: to count them takes longer than to redraw a page
_MOST: Final = 2**63
_SIGNS: Final = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
_PLACES: Final = {name: place for place, name in enumerate(CATEGORIES)}

Row = Mapping[str, Any]  # a segment, a block or an event


@dataclass(frozen=True, slots=True)
class Live:
    """A block in use."""

    num_bytes: int
    category: Category
    frames: Frames = ()


def whole(value: object) -> int:
    """Return a size or an address.

    Raises:
        ValueError: It is no whole number of 63 bits; a file can say anything.
    """
    if not isinstance(value, int) or not 0 <= value < _MOST:
        raise ValueError("a size of a snapshot is a whole number of 63 bits")
    return value


def summarize(dump: Row) -> Snapshot:
    """Return what the dict of a snapshot says of the GPU with the most events.

    Raises:
        ValueError: A size is none, or there is no segment.
        KeyError, TypeError, AttributeError: It is another dict.
    """
    *_earlier, told = summaries(dump)
    return told


def summaries(dump: Row) -> Iterator[Snapshot]:
    """Yield the same, of a long recording what its segments say before that."""
    segments: dict[int, list[Row]] = {}
    for segment in dump["segments"]:
        segments.setdefault(whole(segment.get("device", 0)), []).append(segment)
    events = dict(enumerate(dump.get("device_traces") or ()))
    device = max(segments, key=lambda each: (len(events.get(each, ())), _reserved(segments[each])))
    recorded = events.get(device, ())
    snapshot = partial(Snapshot, device=device, num_devices=len(segments))
    if len(recorded) > _LONG:
        yield snapshot(is_first=True, **_of_device(segments[device], ()))
    yield snapshot(**_of_device(segments[device], recorded))


def _of_device(segments: Sequence[Row], events: Sequence[Row]) -> dict[str, Any]:
    stacks, reserved = Stacks(), _reserved(segments)
    end = dict(_in_use(segments, stacks))
    actions = Counter(map(itemgetter("action"), events))
    is_told = any(actions[each] for each in ("free_completed", *_SIGNS))
    if actions["alloc"] or (is_told and len(events) > 1):  # a lone end is no recorded time
        history = History(events, end, reserved, stacks)
        points, peak, live = history.points, history.peak, history.live_at_peak()
        gap = points[-1].active - sum(each.num_bytes for each in end.values())
    else:
        amounts = amounts_of(end.values())
        peak = Point(event=0, micros=0, reserved=reserved, amounts=amounts)
        points, live, gap = [], end, 0
    ooms = [each for each in events if each["action"] == "oom"]
    largest = sorted(live.values(), key=lambda each: -each.num_bytes)[:MOST_BLOCKS]
    return {
        **_of_segments(segments),
        "reserved": reserved, "points": points, "peak": peak, "num_blocks": len(live), "gap": gap,
        "actions": {text(each)[:MAX_NAME]: n for each, n in actions.most_common(MOST_KINDS)},
        "blocks": [Block(each.num_bytes, each.category, place_of(each.frames)) for each in largest],
        "lines": _lines(live.values()),
        "requests": [whole(each["size"]) for each in ooms[-MOST_BLOCKS:]],
    }  # fmt: skip


def _lines(live: Iterable[Live]) -> Sequence[Line]:
    """Return the lines that asked for most, the largest first."""
    sums, counts = Counter[tuple[Category, str]](), Counter[tuple[Category, str]]()
    for each in live:
        asked = each.category, place_of(each.frames)
        sums[asked] += each.num_bytes
        counts[asked] += 1
    return [Line(size, counts[asked], *asked) for asked, size in sums.most_common(MOST_BLOCKS)]


def _reserved(segments: Iterable[Row]) -> int:
    return sum(whole(segment["total_size"]) for segment in segments)


def _of_segments(segments: Sequence[Row]) -> dict[str, Any]:
    """Return what the segments say of the moment of the snapshot."""
    active, in_empty, largest_free = 0, 0, 0
    for segment in segments:
        sizes = [(whole(block["size"]), _is_in_use(block)) for block in segment["blocks"]]
        used = sum(size for size, is_used in sizes if is_used)
        active += used
        if used > whole(segment["total_size"]):
            raise ValueError("a segment has less than its blocks")
        in_empty += 0 if used else whole(segment["total_size"])
        largest_free = max([largest_free, *(size for size, is_used in sizes if not is_used)])
    return {
        "num_segments": sum(segment["total_size"] > 0 for segment in segments),
        "is_expandable": any(segment.get("is_expandable") for segment in segments),
        "active": active, "in_empty": in_empty, "largest_free": largest_free,
    }  # fmt: skip


def _in_use(segments: Iterable[Row], stacks: Stacks) -> Iterator[tuple[int, Live]]:
    """Yield the blocks in use by their address, which before torch 2.1 they do not say."""
    for segment in segments:
        address = whole(segment["address"])
        for block in segment["blocks"]:
            if _is_in_use(block):
                asked = whole(block.get("requested_size", block["size"]))
                frames = _frames(block)
                category = stacks.category(frames) if frames else "before"
                yield whole(block.get("address", address)), Live(asked, category, frames)
            address += whole(block["size"])


def _is_in_use(block: Row) -> bool:
    return text(block["state"]).startswith("active")  # or waiting for another stream


def _frames(block: Row) -> Frames:
    history = block.get("history") or [{}]  # where torch 2.0 has the stack
    return block.get("frames") or history[0].get("frames") or ()


class History:
    """The recorded time of one GPU, gone through once: what was before it is known at its end."""

    def __init__(
        self, events: Sequence[Row], end: Mapping[int, Live], reserved: int, stacks: Stacks
    ) -> None:
        """Go through all events."""
        self._events, self._stacks = events, stacks
        self._actions = [event["action"] for event in events]
        self._sizes = _wholes([event["size"] for event in events])
        self._addresses = _wholes([event.get("addr", 0) for event in events])
        self._start: dict[int, Live] = {}  # what was in use before the first event
        # What each event changed, in bytes: in tensors, of which category, and reserved.
        self._changes, self._whose = [0] * len(events), [0] * len(events)
        self._moves = list(map(_moved, self._actions, self._sizes))
        self._lost: dict[int, tuple[int, int]] = {}  # blocks whose end was not recorded
        seen = self._go()
        self._start |= {place: each for place, each in end.items() if place not in seen}
        at_start = reserved - sum(self._moves)
        if at_start < 0:
            raise ValueError("the events gave back more than was ever reserved")
        self.points: Sequence[Point] = list(self._points(at_start))
        self.peak = max(self.points, key=lambda each: each.active)

    def live_at_peak(self) -> Mapping[int, Live]:
        """Return the blocks in use at the peak: the events up to it, once more."""
        begun: dict[int, int | None] = dict.fromkeys(self._start)
        for number in range(self.peak.event):
            action = self._actions[number]
            if action == "alloc":
                begun[self._addresses[number]] = number
            elif action == "free_completed":
                begun.pop(self._addresses[number], None)
        return {
            address: self._start[address] if number is None else self._block(number)
            for address, number in begun.items()
        }

    def _block(self, number: int) -> Live:
        frames = self._events[number].get("frames") or ()
        return Live(self._sizes[number], self._stacks.category(frames), frames)

    def _go(self) -> Mapping[int, tuple[int, int] | None]:
        """Note what each event changes; return each block of its addresses, None of a freed one."""
        known: dict[int, tuple[int, int] | None] = {}
        changes, whose, category_of = self._changes, self._whose, self._stacks.category
        before = _PLACES["before"]
        rows = zip(self._actions, self._addresses, self._sizes, strict=True)
        for number, (action, address, size) in enumerate(rows):
            if action == "alloc":
                category = _PLACES[category_of(self._events[number].get("frames") or ())]
                changes[number], whose[number] = size, category
                if old := known.get(address):
                    self._lost[number] = old
                    changes[number] -= old[0]
                known[address] = size, category
            elif action == "free_completed":
                if address not in known:
                    self._start[address] = Live(size, "before")
                if old := known.get(address, (size, before)):
                    changes[number], whose[number] = -old[0], old[1]
                known[address] = None
        return known

    def _points(self, at_start: int) -> Iterator[Point]:
        """Yield the start, the end, and what is lowest, highest and most reserved between them."""
        reserved = list(accumulate(self._moves, initial=at_start))
        amounts, done = amounts_of(self._start.values()), 0
        start = whole(self._events[0].get("time_us", 0))
        for event in sorted(self._chosen(reserved)):
            for number in range(done, event):
                place = self._whose[number]
                amounts[place] += self._changes[number]
                if number in self._lost:
                    size, lost = self._lost[number]
                    amounts[lost] -= size
                    amounts[place] += size
            done = event
            micros = whole(self._events[max(event - 1, 0)].get("time_us", start)) - start
            yield Point(
                event=event, micros=max(micros, 0), reserved=reserved[event], amounts=tuple(amounts)
            )

    def _chosen(self, reserved: Sequence[int]) -> set[int]:
        active = list(accumulate(self._changes, initial=0))  # more than at the start
        chosen, width = {0, len(self._events)}, -(-len(self._events) // NUM_BUCKETS)
        for first in range(1, len(active), width):
            for values, furthest in ((active, min), (active, max), (reserved, max)):
                bucket = values[first : first + width]
                chosen.add(first + bucket.index(furthest(bucket)))
        return chosen


def _moved(action: Any, size: int) -> int:  # noqa: ANN401  a file can say anything
    return _SIGNS[action] * size if action in _SIGNS else 0


def amounts_of(blocks: Iterable[Live]) -> list[int]:
    """Return the bytes of blocks by the places of `CATEGORIES`."""
    sums = Counter[str]()
    for each in blocks:
        sums[each.category] += each.num_bytes
    return [sums[name] for name in CATEGORIES]


def _wholes(values: list[Any]) -> list[int]:
    """Return sizes or addresses, looked at together: there may be a million."""
    if not set(map(type, values)) <= {int}:
        raise ValueError("a size of a snapshot is a whole number")
    for furthest in (min(values), max(values)):
        whole(furthest)
    return values
