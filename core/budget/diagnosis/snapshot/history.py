"""The events of a snapshot, gone through: what was in tensors and reserved after each.

The form is that of torch's CUDACachingAllocator, 2.0 to 2.13: "segments" with "blocks", and for
each GPU a list of events, a ring of which the beginning may be lost. The end is known from the
segments, so the events are counted back from there. An event has the bytes that were asked for;
the size of a block is that, rounded up.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.budget.diagnosis.snapshot.answer import CATEGORIES, Block, Category, Point, Snapshot
from core.budget.diagnosis.snapshot.stacks import MAX_NAME, Frames, Stacks, place_of, text

MOST_BLOCKS: Final = 20
MOST_KINDS: Final = 16  # torch knows ten
NUM_BUCKETS: Final = 200  # of the recorded time; each gives at most three points
_MOST: Final = 2**63
_SIGNS: Final = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}

Row = Mapping[str, Any]  # a segment, a block or an event


@dataclass(frozen=True, slots=True)
class Live:
    """A block in use."""

    num_bytes: int
    category: Category
    frames: Frames = ()


@dataclass(slots=True)
class Held:
    """What is in use and what is reserved while the events go by."""

    live: dict[int, Live]
    reserved: int
    amounts: Counter[str] = field(default_factory=Counter)
    active: int = 0  # their sum

    def __post_init__(self) -> None:
        for each in self.live.values():
            self._add(each.category, each.num_bytes)

    def put(self, address: int, block: Live) -> None:
        """Count a block that was allocated."""
        self.drop(address)  # it was freed, and that event is lost
        self.live[address] = block
        self._add(block.category, block.num_bytes)

    def drop(self, address: int) -> None:
        """Count a block that was freed."""
        if block := self.live.pop(address, None):
            self._add(block.category, -block.num_bytes)

    def _add(self, category: str, num_bytes: int) -> None:
        self.amounts[category] += num_bytes
        self.active += num_bytes

    def point(self, event: int, micros: int) -> Point:
        """Return what is held now."""
        amounts = tuple(self.amounts[each] for each in CATEGORIES)
        return Point(event=event, micros=micros, reserved=self.reserved, amounts=amounts)


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
    segments: dict[int, list[Row]] = {}
    for segment in dump["segments"]:
        segments.setdefault(whole(segment.get("device", 0)), []).append(segment)
    events = dict(enumerate(dump.get("device_traces") or ()))
    device = max(segments, key=lambda each: (len(events.get(each, ())), _reserved(segments[each])))
    told = _of_device(segments[device], events.get(device, ()))
    return Snapshot(device=device, num_devices=len(segments), **told)


def _of_device(segments: Sequence[Row], events: Sequence[Row]) -> dict[str, Any]:
    stacks, reserved = Stacks(), _reserved(segments)
    end = dict(_in_use(segments, stacks))
    actions = Counter(event["action"] for event in events)
    is_told = any(actions[each] for each in ("free_completed", *_SIGNS))
    if actions["alloc"] or (is_told and len(events) > 1):  # a lone end is no recorded time
        history = History(events, end, reserved, stacks)
        points, peak, live = history.points, history.peak, history.live_at_peak()
        gap = history.end - sum(each.num_bytes for each in end.values())
    else:
        points, peak, live, gap = [], Held(end, reserved).point(0, 0), end, 0
    ooms = [each for each in events if each["action"] == "oom"]
    largest = sorted(live.values(), key=lambda each: -each.num_bytes)[:MOST_BLOCKS]
    return {
        **_of_segments(segments),
        "reserved": reserved, "points": points, "peak": peak, "num_blocks": len(live), "gap": gap,
        "actions": {text(each)[:MAX_NAME]: n for each, n in actions.most_common(MOST_KINDS)},
        "blocks": [Block(each.num_bytes, each.category, place_of(each.frames)) for each in largest],
        "requests": [whole(each["size"]) for each in ooms[-MOST_BLOCKS:]],
    }  # fmt: skip


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
    """The recorded time of one GPU: from its end, which is known, to its start, and forward."""

    def __init__(
        self, events: Sequence[Row], end: Mapping[int, Live], reserved: int, stacks: Stacks
    ) -> None:
        """Go through all events once."""
        self._events, self._stacks = events, stacks
        self._start = _at_start(events, end)
        moves = ((_SIGNS.get(each["action"], 0), each) for each in events)
        self._reserved = reserved - sum(sign * whole(each["size"]) for sign, each in moves if sign)
        if self._reserved < 0:
            raise ValueError("the events gave back more than was ever reserved")
        held = self._held()
        thinned, number, micros = Thinned(len(events), held.point(0, 0)), 0, 0
        for number, micros in self._go(held):
            thinned.add(number, micros, held)
        self.end = held.active
        self.points: Sequence[Point] = thinned.finished(held.point(number, micros))
        self.peak = max(self.points, key=lambda each: each.active)

    def live_at_peak(self) -> Mapping[int, Live]:
        """Return the blocks in use at the peak: the events up to it, once more."""
        held = self._held()
        for number, _micros in self._go(held) if self.peak.event else ():
            if number == self.peak.event:
                break
        return held.live

    def _held(self) -> Held:
        return Held(dict(self._start), self._reserved)

    def _go(self, held: Held) -> Iterator[tuple[int, int]]:
        """Do each event to `held`; yield its number and the microseconds since the first."""
        start = whole(self._events[0].get("time_us", 0))
        for number, event in enumerate(self._events, 1):
            action = event["action"]
            if action == "alloc":
                frames = event.get("frames") or ()
                block = Live(whole(event["size"]), self._stacks.category(frames), frames)
                held.put(whole(event["addr"]), block)
            elif action == "free_completed":
                held.drop(whole(event["addr"]))
            elif sign := _SIGNS.get(action, 0):
                held.reserved += sign * whole(event["size"])
            yield number, max(whole(event.get("time_us", start)) - start, 0)


def _at_start(events: Iterable[Row], end: Mapping[int, Live]) -> dict[int, Live]:
    """Return what was in use before the first event: freed later, or still there at the end."""
    allocated: set[int] = set()
    freed: dict[int, Live] = {}
    for event in events:
        if event["action"] == "alloc":
            allocated.add(whole(event["addr"]))
        elif event["action"] == "free_completed":
            address = whole(event["addr"])
            if address not in allocated:
                freed.setdefault(address, Live(whole(event["size"]), "before"))
            allocated.discard(address)
    return freed | {place: each for place, each in end.items() if place not in allocated}


class Thinned:
    """Points of a long time: the lowest, the highest and the most reserved of each bucket."""

    def __init__(self, num_events: int, start: Point) -> None:
        """Begin with what was held before the first event."""
        self._width = -(-num_events // NUM_BUCKETS)
        self._points, self._bucket = [start], [start] * 3
        self._low = self._high = self._most = 0

    def add(self, number: int, micros: int, held: Held) -> None:
        """Look at what is held after an event."""
        if (number - 1) % self._width == 0:
            self._close()
            self._bucket = [held.point(number, micros)] * 3
            self._low = self._high = held.active
            self._most = held.reserved
        elif held.active < self._low:
            self._low, self._bucket[0] = held.active, held.point(number, micros)
        elif held.active > self._high:
            self._high, self._bucket[1] = held.active, held.point(number, micros)
        elif held.reserved > self._most:
            self._most, self._bucket[2] = held.reserved, held.point(number, micros)

    def finished(self, end: Point) -> Sequence[Point]:
        """Return the points, once no more come; the end is one of them."""
        self._close()
        return [*self._points, *([end] if end.event > self._points[-1].event else [])]

    def _close(self) -> None:
        found = {each.event: each for each in self._bucket}
        self._points += [found[event] for event in sorted(found) if event]
