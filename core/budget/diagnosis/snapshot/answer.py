"""A CUDA memory snapshot of torch, read: what lay in tensors, what was reserved, and for what.

`torch.cuda.memory._dump_snapshot` writes a pickle, and a pickle can run code. So it is read in a
process of its own (`__main__.py` beside this file) that refuses every name of code, with an end to
its time and its memory; what comes back are one or two lines of JSON. Needs no torch.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from core.budget.table import read_table
from core.language import N_, _
from core.units import GIB, MIB, format_bytes

MAX_BYTES: Final = 256 * MIB
MAX_SECONDS: Final = 10
MAX_MEMORY: Final = 3 * GIB // 2
_LOOK_SECONDS: Final = 0.1  # between two looks at its memory
_ROOT: Final = Path(__file__).parents[4]

Category = Literal["forward", "backward", "optimizer", "setup", "other", "unknown", "before"]
CATEGORIES: Final[Mapping[Category, str]] = {
    "before": N_("before the recording"), "setup": N_("model set-up"),
    "optimizer": N_("optimizer step"), "forward": N_("forward"), "backward": N_("backward"),
    "other": N_("other code"), "unknown": N_("no stack recorded"),
}  # fmt: skip
"""Where a block was allocated, in words."""

PROBLEMS: Final[Mapping[str, str]] = read_table(__file__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """What was held after an event, in bytes.

    Attributes:
        event: Its number, from 1; 0 is before the first.
        micros: Microseconds since the first event; 0 where no times were recorded.
        reserved: In segments.
        amounts: In tensors, by the places of `CATEGORIES`.
    """

    event: int
    micros: int
    reserved: int
    amounts: Sequence[int]

    @property
    def active(self) -> int:
        """Bytes in tensors, as they were asked for."""
        return sum(self.amounts)

    @property
    def by_category(self) -> Mapping[Category, int]:
        """Bytes in tensors, by where they were allocated."""
        return dict(zip(CATEGORIES, self.amounts, strict=True))


@dataclass(frozen=True, slots=True)
class Block:
    """A block in use: its bytes, its category, and the place in the user's code that asked."""

    num_bytes: int
    category: Category
    place: str


@dataclass(frozen=True, slots=True)
class Line:
    """All blocks that one line of the user's code asked for: of a module in its forward pass."""

    num_bytes: int
    num_blocks: int
    category: Category
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """What a snapshot says of one GPU.

    Attributes:
        device: Number of the GPU: the one with the most events, then with the most memory.
        num_devices: How many GPUs the snapshot has.
        num_segments: Pieces of memory that torch had reserved when the snapshot was taken.
        reserved: Their bytes.
        active: Bytes of blocks in use then, as the allocator cut them.
        is_expandable: Whether segments grow and shrink by pages.
        in_empty: Bytes of segments without a block in use: `empty_cache` gives them back.
        largest_free: The largest free piece.
        actions: How many events of each kind were recorded.
        points: The recorded time, thinned out; each extreme is kept. Empty without a history.
        peak: The moment with most in tensors; without a history that of the snapshot.
        blocks: The largest blocks in use at the peak.
        lines: The lines that asked for most of what was in use at the peak.
        num_blocks: How many were in use at the peak.
        gap: Bytes by which the events and the segments differ at the end; 0 if they agree.
        requests: Bytes that did not fit, one for each of the last recorded out-of-memory errors.
        is_first: Whether the recorded time is still being counted: the segments are told first.
    """

    device: int
    num_devices: int
    num_segments: int
    reserved: int
    active: int
    is_expandable: bool
    in_empty: int
    largest_free: int
    actions: Mapping[str, int]
    points: Sequence[Point]
    peak: Point
    blocks: Sequence[Block]
    lines: Sequence[Line]
    num_blocks: int
    gap: int
    requests: Sequence[int]
    is_first: bool = False

    @property
    def idle(self) -> int:
        """Bytes that torch holds and no tensor uses, when the snapshot was taken."""
        return self.reserved - self.active

    @property
    def fragmented(self) -> int:
        """Bytes of `idle` that lie between blocks in use.

        Of expandable segments alone `empty_cache` can give whole pages of them back.
        """
        return self.idle - self.in_empty

    @property
    def at_end(self) -> Point:
        """What was held when the snapshot was taken."""
        return self.points[-1] if self.points else self.peak

    @property
    def at_start(self) -> int:
        """Bytes in tensors before the first event: the recording does not know their beginning."""
        return self.points[0].active if self.points else 0


def read_in_child(
    file: Path | BinaryIO, *, seconds: float = MAX_SECONDS, memory: int = MAX_MEMORY
) -> Iterator[str]:
    """Yield as JSON what the file says, or its problem; never what the file wants to be.

    Of a long recording the segments are told first, and the whole as soon as it is counted.

    Args:
        file: Of at most `MAX_BYTES`, or it opened, at its beginning; who calls has looked.
        seconds: After these the reading process is ended.
        memory: Bytes that it may have: of address space where the system holds it to that, else
            of what it is seen to use.
    """
    limits = str(memory), str(os.getpid())
    command = [sys.executable, "-m", "core.budget.diagnosis.snapshot", *limits]
    with file.open("rb") if isinstance(file, Path) else nullcontext(file) as opened:
        yield from watched(command, opened, seconds, memory)


def watched(command: Sequence[str], file: BinaryIO, seconds: float, memory: int) -> Iterator[str]:
    """Yield each line that a process prints which reads a file; last as JSON why it was ended."""
    problems: list[str] = []
    with subprocess.Popen(  # noqa: S603  our own module
        command, cwd=_ROOT, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        encoding="ascii",
    ) as child:  # fmt: skip
        ended = threading.Event()
        watch = (child, ended, time.monotonic() + seconds, memory, problems)
        threading.Thread(target=_watch, args=watch, daemon=True).start()
        try:
            for line in child.stdout or ():
                if line.endswith("\n"):  # else it was ended in the middle of it
                    yield line
            child.wait()
        finally:
            ended.set()
            child.kill()
    if problems or child.returncode:
        yield json.dumps({"problem": (*problems, "failed")[0], "seconds": seconds})


def _watch(
    child: subprocess.Popen[str], ended: threading.Event, until: float, memory: int,
    problems: list[str],
) -> None:  # fmt: skip
    """End a process that takes too long or too much, and note which.

    It is looked at from outside, since neither Windows nor macOS limits the memory of a process.
    """
    while not ended.wait(_LOOK_SECONDS):
        if time.monotonic() > until:
            problems.append("late")
        elif _memory_of(child.pid) > memory:
            problems.append("memory")
        else:
            continue
        return child.kill()
    return None


def _memory_of(pid: int) -> int:
    """Return the bytes of memory that a process has now; 0 if it is gone."""
    import psutil  # the process that reads needs none

    with suppress(psutil.Error):
        process = psutil.Process(pid)
        # On Windows the Python of an environment starts the one that works.
        all_of_it = [process, *(process.children() if psutil.WINDOWS else ())]
        return sum(each.memory_info().rss for each in all_of_it)
    return 0


def as_snapshot(answer: str | Iterable[str]) -> Snapshot:
    """Return what `read_in_child` has answered, of several answers the last.

    Raises:
        ValueError: The file could not be read; says why in the reader's language.
    """
    *_earlier, last = [answer] if isinstance(answer, str) else answer
    told: dict[str, Any] = json.loads(last)
    if problem := told.get("problem"):
        name, seconds = str(told.get("name", "")).replace("`", ""), f"{told.get('seconds', 0):g}"
        values = {"name": name, "seconds": seconds, "memory": format_bytes(MAX_MEMORY)}
        raise ValueError(_(PROBLEMS[problem]).format(**values))
    points = tuple(Point(**each) for each in told.pop("points"))
    blocks = tuple(Block(**each) for each in told.pop("blocks"))
    lines = tuple(Line(**each) for each in told.pop("lines"))
    peak = Point(**told.pop("peak"))
    return Snapshot(points=points, blocks=blocks, lines=lines, peak=peak, **told)
