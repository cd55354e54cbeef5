"""A finished run, streamed again as if it were live: each viewer has a clock of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Final

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from core.language import _
from core.train.run.replay import MAX_SPEED, MIN_SPEED, ReplayReader
from pages.components.live_chart.feed import Feed, Position

LOOK_SECONDS: Final = 0.5
_LOOKS_PER_HEARTBEAT: Final = 30


class Replays:
    """The replays of one server; a live run costs the same for a hundred viewers, these do not."""

    def __init__(self, is_over: Callable[[], bool], max_replays: int = 40) -> None:
        """Stream until `is_over`, to at most `max_replays` viewers at once."""
        self._is_over, self._max_replays = is_over, max_replays
        self.num_open = 0

    @property
    def is_full(self) -> bool:
        """Whether one more would be too many."""
        return self.num_open >= self._max_replays

    async def open(self, directory: Path, speed: str, headers: Mapping[str, str]) -> "ReplayStream":
        """Read the whole run; its replay begins now.

        Raises:
            ValueError: The run cannot be read, has not ended, or the speed is out of range.
        """
        reader = await asyncio.to_thread(ReplayReader, directory, _number(speed))
        return ReplayStream(self, reader, headers)

    async def messages(self, reader: ReplayReader) -> AsyncIterator[bytes]:
        """Yield what a viewer gets; after the replay's end only signs of life.

        The stream stays open at the end: a browser would begin the replay again.
        """
        feed = Feed(reader.directory, reader)
        position: Position | None = None
        looks = 0
        while not self._is_over():
            if feed.take(feed.look()):
                yield feed.message(position)
                position = feed.position
            elif looks % _LOOKS_PER_HEARTBEAT == 0:
                yield b": still here\n\n"
            looks += 1
            await asyncio.sleep(LOOK_SECONDS)


class ReplayStream(StreamingResponse):
    """An answer that counts as a replay for exactly as long as it is being sent."""

    media_type = "text/event-stream"

    def __init__(self, replays: Replays, reader: ReplayReader, headers: Mapping[str, str]) -> None:
        super().__init__(replays.messages(reader), headers=headers)
        self._replays = replays

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream until the viewer leaves or the server stops."""
        self._replays.num_open += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._replays.num_open -= 1


def _number(speed: str) -> float:
    try:
        return float(speed)
    except ValueError as error:
        raise ValueError(
            _("The replay speed is {speed}; choose a number from {low:g} to {high:g}.").format(
                speed=repr(speed[:20]), low=MIN_SPEED, high=MAX_SPEED
            )
        ) from error
