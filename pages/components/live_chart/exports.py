"""Files made from runs: one at a time, in a thread of their own, kept for whoever asks next.

A class that exports at once must not keep the live stream waiting, nor one browser the others.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

MAX_KEPT_BYTES: Final = 32 * 2**20

End = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Export:
    """What a file is made of: its kind with all that was chosen, and the run."""

    kind: tuple[str, ...]
    directory: Path

    def end(self) -> End:
        """Return what changes when the run does: name, time and size of its files."""
        found = []
        for each in self.directory.iterdir():
            with suppress(FileNotFoundError):  # a worker renames what it has written
                stat = each.stat()
                found.append((each.name, stat.st_mtime_ns, stat.st_size))
        return tuple(sorted(found))


@dataclass(frozen=True, slots=True, weakref_slot=True)
class File:
    """What was made: `mark` stands in its name, behind the run's."""

    content: bytes
    mark: str = ""


class Exports:
    """The files of one server; used by its loop only."""

    def __init__(self, max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max_kept_bytes = max_kept_bytes
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="export")
        self._kept: dict[Export, File] = {}
        # Also those that are too large to keep, while they are sent: many who ask hold one copy.
        self._known: WeakValueDictionary[tuple[Export, End], File] = WeakValueDictionary()
        self._under_way: dict[tuple[Export, End], asyncio.Task[File]] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def file(self, who: str, export: Export, make: Callable[[], File]) -> File:
        """Return the file, made in the pool unless it is kept or just being made.

        `who` has one file made at a time; what `make` raises reaches all who wait.
        """
        turn = self._turns.setdefault(who, asyncio.Lock())
        async with turn:
            end = export.end()
            if known := self._known.get((export, end)):
                return known
            task = self._under_way.get((export, end))
            if task is None:
                task = asyncio.create_task(self._make(export, end, make))
                self._under_way[export, end] = task
            return await asyncio.shield(task)

    async def _make(self, export: Export, end: End, make: Callable[[], File]) -> File:
        try:
            file = await asyncio.get_running_loop().run_in_executor(self._pool, make)
        finally:
            del self._under_way[export, end]
        self._known[export, end] = file
        self._kept.pop(export, None)
        if len(file.content) <= self._max_kept_bytes:
            self._kept[export] = file
        while sum(len(kept.content) for kept in self._kept.values()) > self._max_kept_bytes:
            del self._kept[next(iter(self._kept))]  # the oldest
        return file
