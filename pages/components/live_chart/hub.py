"""One poller per server looks at the disk; every viewer of every run waits for it."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from core.train.run.directory import EVENTS_FILE, METRICS_FILE, STATE_FILE, open_run_directory
from core.train.run.shelf import newest_run
from pages.components.live_chart.feed import Feed, News, Position, parse_position, server_sent_event

POLL_SECONDS: Final = 0.5
PEEK_SECONDS: Final = 0.05
HEARTBEAT_SECONDS: Final = 15.0

WRITTEN_FILES: Final = (METRICS_FILE, EVENTS_FILE, STATE_FILE)

# What a viewer asked for ("" means the newest run), and the run it stands for now.
Wanted = str
Seen = Mapping[Wanted, tuple[Feed, News] | None]


class Hub:
    """Reads the watched runs twice a second while anyone watches, and tells the viewers."""

    def __init__(self, runs_directory: Callable[[], Path]) -> None:
        self.stopped = False
        self._runs_directory = runs_directory
        self._viewers: Counter[Wanted] = Counter()
        self._shown: dict[Wanted, Feed | None] = {}
        self._told_at = 0.0
        self._changed = asyncio.Event()
        self._hurry = asyncio.Event()
        self._poller: asyncio.Task[None] | None = None
        # A thread of its own: viewers do not wait for what else the server reads.
        self._eyes = ThreadPoolExecutor(1, thread_name_prefix="look")

    @property
    def polling(self) -> bool:
        """Whether the poller is at work."""
        return self._poller is not None and not self._poller.done()

    def stop(self) -> None:
        """End every stream now; call it in the event loop's thread."""
        self.stopped = True
        self._tell_viewers()

    @contextmanager
    def watching(self, wanted: Wanted) -> Iterator[None]:
        """Count one more viewer of `wanted` while the block runs."""
        self._viewers[wanted] += 1
        if wanted not in self._shown:
            self._hurry.set()
        try:
            yield
        finally:
            self._viewers[wanted] -= 1
            if not self._viewers[wanted]:
                del self._viewers[wanted]
                self._shown.pop(wanted, None)
                self._hurry.set()

    async def messages(self, wanted: Wanted, last_event_id: str) -> AsyncIterator[bytes]:
        """Yield what one viewer is to get, until the server stops."""
        viewer = Viewer(wanted, parse_position(last_event_id))
        yield b"retry: 2000\n\n"
        while not self.stopped:
            changed = self._changed  # before looking: what comes meanwhile is not missed
            if not self.polling:
                self._poller = asyncio.create_task(self._poll())
            message = viewer.message(self._shown[wanted]) if wanted in self._shown else None
            if message is not None:
                yield message
            elif not await _happens(changed, HEARTBEAT_SECONDS):
                yield b": still here\n\n"

    async def _poll(self) -> None:
        while self._viewers and not self.stopped:
            self._hurry.clear()
            feeds = {feed.run: feed for feed in self._shown.values() if feed}
            loop = asyncio.get_running_loop()
            seen = await loop.run_in_executor(self._eyes, self._look, tuple(self._viewers), feeds)
            if self._take(seen):
                self._tell_viewers()
            await self._rest([feed for feed in self._shown.values() if feed])

    async def _rest(self, feeds: Sequence[Feed]) -> None:
        """Wait until it is time to look again: soon after a quiet run has written, else as usual.

        Viewers hear at most once in POLL_SECONDS; a step after a pause reaches them at once.
        """
        began, before = time.monotonic(), _marks(feeds)
        while not await _happens(self._hurry, PEEK_SECONDS):
            waited = time.monotonic() - began
            quiet_before = began - self._told_at >= POLL_SECONDS - PEEK_SECONDS
            if waited >= POLL_SECONDS or (quiet_before and _marks(feeds) != before):
                return

    def _look(self, wanted: tuple[Wanted, ...], feeds: dict[str, Feed]) -> Seen:
        seen: dict[Wanted, tuple[Feed, News] | None] = {}
        looked: dict[str, tuple[Feed, News] | None] = {}
        folder = self._runs_directory()
        for each in wanted:
            name = each or newest_run(folder)
            if name and name not in looked:
                looked[name] = _look_at(folder, name, feeds.get(name))
            seen[each] = looked[name] if name else None
        return seen

    def _take(self, seen: Seen) -> bool:
        changed = False
        news = dict(filter(None, seen.values()))
        for feed, found in news.items():
            changed |= feed.take(found)
        for wanted in self._viewers.keys() & seen.keys():
            found_feed = seen[wanted]
            feed_now = found_feed[0] if found_feed else None
            changed |= wanted not in self._shown or self._shown[wanted] is not feed_now
            self._shown[wanted] = feed_now
        return changed

    def _tell_viewers(self) -> None:
        told, self._changed = self._changed, asyncio.Event()
        self._told_at = time.monotonic()
        told.set()


def _look_at(folder: Path, name: str, feed: Feed | None) -> tuple[Feed, News] | None:
    try:
        directory = open_run_directory(folder, name)
        feed = feed or Feed(directory)
        return feed, feed.look()
    except (ValueError, OSError):
        # Deleted, damaged or of a newer format: the list of runs says which.
        return None


def _marks(feeds: Sequence[Feed]) -> list[int]:
    """Return what changes when a run writes; three questions to the file system a run."""
    marks = []
    for path in (feed.directory / name for feed in feeds for name in WRITTEN_FILES):
        try:
            marks.append(path.stat().st_mtime_ns)
        except OSError:
            marks.append(0)
    return marks


async def _happens(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True


class Viewer:
    """What one viewer has been sent."""

    def __init__(self, wanted: Wanted, position: Position | None) -> None:
        self._wanted = wanted
        self._position = position
        self._told: tuple[Feed | None, int] | None = None

    def message(self, feed: Feed | None) -> bytes | None:
        """Return the next message, or None when the viewer knows everything about `feed`."""
        now = (feed, feed.version if feed else 0)
        if now == self._told:
            return None
        self._told = now
        if feed:
            message = feed.message(self._position)
            self._position = feed.position
            return message
        self._position = None
        if self._wanted:
            return server_sent_event("missing", {"run": self._wanted})
        return server_sent_event("empty", {})
