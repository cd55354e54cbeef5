"""The live stream's routes: events of a run, live or replayed, its CSV, Plotly for the browser."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from core.language import _
from core.train.run.directory import check_run_name, open_run_directory, runs_directory
from core.train.run.reader import RunReader
from core.train.run.recorded import check_preset, recorded_run
from core.train.run.records import csv_lines
from core.train.run.replay import ReplayReader
from core.train.run.shelf import newest_run
from core.units import ByteUnit
from pages.components.live_chart.assets import PLOTLY_PATH, plotly_javascript, plotly_version
from pages.components.live_chart.feed import Feed, Position
from pages.components.live_chart.hub import Hub
from pages.components.live_chart.recorded import LOOK_SECONDS, recorded_messages
from pages.components.run_player.run_player import player_html, samples_svg

MAX_CLIENTS: Final = 200
MAX_REPLAYS: Final = 40  # a live run costs the same for a hundred viewers, these do not
_LOOKS_PER_HEARTBEAT: Final = 30
_STREAM_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """An answer that counts as a viewer for exactly as long as it is being sent."""

    media_type = "text/event-stream"

    def __init__(
        self, messages: AsyncIterator[bytes], counted: AbstractContextManager[None]
    ) -> None:
        super().__init__(messages, headers=_STREAM_HEADERS)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream until the viewer leaves or the server stops."""
        with self._counted:
            await super().__call__(scope, receive, send)


class LiveStream:
    """The routes over one directory of runs."""

    def __init__(
        self, runs: Callable[[], Path] = runs_directory, max_clients: int = MAX_CLIENTS
    ) -> None:
        self.hub = Hub(runs)
        self.num_replays = 0
        self._runs, self._max_clients = runs, max_clients

    def routes(self) -> list[Route]:
        """Return the routes for the server."""
        return [
            Route("/live/stream", self.stream, methods=["GET"]),
            Route("/live/metrics.csv", self.metrics, methods=["GET"]),
            Route("/live/run.html", self.player, methods=["GET"]),
            Route("/live/samples.svg", self.samples, methods=["GET"]),
            Route(PLOTLY_PATH, plotly, methods=["GET"]),
        ]

    async def stream(self, request: Request) -> Response:
        """Answer with the events of `?run=`, or of the newest run when it is empty.

        With `?speed=` a run that has ended is replayed, from its first step. With `?recording=`
        and without `?run=` a recorded run of that preset is replayed until there is a run.
        """
        run, recording = _asked(request)
        if refusal := self._refusal(run, recording):
            return refusal
        if request.method == "HEAD":
            return Response(media_type="text/event-stream", headers=_STREAM_HEADERS)
        if speed := request.query_params.get("speed"):
            return await self._replay(run, speed)
        if recording:
            return EventStream(self._recorded(recording), self.hub.watching(""))
        messages = self.hub.messages(run, request.headers.get("Last-Event-ID", ""))
        return EventStream(messages, self.hub.watching(run))

    def _refusal(self, run: str, recording: str) -> Response | None:
        try:
            if run:
                check_run_name(run)
            if recording:
                check_preset(recording)
        except ValueError as error:
            return _refused_for(error)
        if self.hub.stopped:
            return _refused(503, _("The server is stopping; load the page again in a moment."))
        if self.hub.num_viewers >= self._max_clients:
            message = _("This server has {limit} live viewers, the most it carries; try later.")
            return _refused(503, message.format(limit=self._max_clients))
        return None

    async def _replay(self, run: str, speed: str) -> Response:
        if self.num_replays >= MAX_REPLAYS:
            return _refused(503, _("Too many replays run on this server; try later."))
        try:
            directory = open_run_directory(self._runs(), run)
            reader = await asyncio.to_thread(ReplayReader, directory, speed)
        except (FileNotFoundError, ValueError) as error:
            return _refused_for(error)
        return EventStream(self._replayed(reader), self._replaying())

    @contextmanager
    def _replaying(self) -> Iterator[None]:
        self.num_replays += 1
        try:
            yield
        finally:
            self.num_replays -= 1

    async def _replayed(self, reader: ReplayReader) -> AsyncIterator[bytes]:
        """Yield what one viewer gets, by a clock of its own; at the end only signs of life.

        The stream stays open at the end: a browser would begin the replay again.
        """
        feed = Feed(reader.directory, reader)
        position: Position | None = None
        looks = 0
        while not self.hub.stopped:
            if feed.take(feed.look()):
                yield feed.message(position)
                position = feed.position
            elif looks % _LOOKS_PER_HEARTBEAT == 0:
                yield b": still here\n\n"
            looks += 1
            await asyncio.sleep(LOOK_SECONDS)

    async def _recorded(self, preset: str) -> AsyncIterator[bytes]:
        """Yield a recorded run, and from then on the first run that there is."""
        messages = iter(await asyncio.to_thread(recorded_messages, preset))
        looks = 0
        while not self.hub.stopped and not await asyncio.to_thread(newest_run, self._runs()):
            if message := next(messages, b""):
                yield message
            elif looks % _LOOKS_PER_HEARTBEAT == 0:
                yield b": still here\n\n"
            looks += 1
            await asyncio.sleep(LOOK_SECONDS)
        async for message in self.hub.messages("", ""):
            yield message

    async def metrics(self, request: Request) -> Response:
        """Answer with the steps of `?run=`, or of a `?recording=`, as a CSV download."""
        try:
            directory = await self._directory(request)
            increment = await asyncio.to_thread(RunReader(directory).read_new)
        except (FileNotFoundError, ValueError) as error:
            return _refused_for(error)
        lines = csv_lines(increment.records)
        # A table has no place for a remark: its name says that damaged steps are missing.
        missing = "-incomplete" if increment.num_damaged else ""
        headers = _as_file(f"{directory.name}{missing}.csv")
        return StreamingResponse(lines, media_type="text/csv", headers=headers)

    async def player(self, request: Request) -> Response:
        """Answer with `?run=`, or a `?recording=`, as one HTML file that plays anywhere."""
        language = request.query_params.get("lang", "")
        unit: ByteUnit = "GB" if request.query_params.get("units") == "GB" else "GiB"
        try:
            directory = await self._directory(request)
            page = await asyncio.to_thread(player_html, directory, language, unit)
        except (FileNotFoundError, ValueError) as error:
            return _refused_for(error)
        headers = _as_file(f"{directory.name}.html")
        return Response(page, media_type="text/html", headers=headers)

    async def samples(self, request: Request) -> Response:
        """Answer with the samples of `?run=`, or of a `?recording=`, as one picture.

        With `?moving=1` it is an animation.
        """
        moving = request.query_params.get("moving") == "1"
        language = request.query_params.get("lang", "")
        try:
            directory = await self._directory(request)
            picture = await asyncio.to_thread(samples_svg, directory, language, moving=moving)
        except (FileNotFoundError, ValueError) as error:
            return _refused_for(error)
        headers = _as_file(f"{directory.name}{'-animation' if moving else ''}.svg")
        return Response(picture, media_type="image/svg+xml", headers=headers)

    async def _directory(self, request: Request) -> Path:
        """Return the directory of the run or the recording that is asked for."""
        run, recording = _asked(request)
        if not recording:
            return open_run_directory(self._runs(), run)
        check_preset(recording)
        return await asyncio.to_thread(recorded_run, recording)


def _as_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


async def plotly(request: Request) -> Response:
    """Answer with Plotly; the address names its version, so browsers may keep it for ever."""
    compressed = "gzip" in request.headers.get("Accept-Encoding", "")
    script = await asyncio.to_thread(plotly_javascript, compressed=compressed)
    current = request.query_params.get("v") == plotly_version()
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable" if current else "no-cache",
        "Vary": "Accept-Encoding",
    }
    if compressed:
        headers["Content-Encoding"] = "gzip"
    return Response(script, media_type="text/javascript", headers=headers)


def _asked(request: Request) -> tuple[str, str]:
    """Return the run and the recording that are asked for; a run comes before a recording."""
    run = request.query_params.get("run", "")
    return run, "" if run else request.query_params.get("recording", "")


def _refused(status: int, sentence: str) -> Response:
    return PlainTextResponse(sentence, status_code=status)


def _refused_for(error: Exception) -> Response:
    return _refused(404 if isinstance(error, FileNotFoundError) else 400, str(error))


_live = LiveStream()


def routes() -> list[Route]:
    """Return the live routes of this server."""
    return _live.routes()


def install_stop_signal(live: LiveStream = _live) -> Callable[[], None]:
    """End open streams as soon as the server is told to stop: it waits for them otherwise.

    Call it in the lifespan, when the server's own handlers are in place; they are called after
    ours. Returns what puts them back. Outside the main thread there are no signals: no effect.
    """
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(live.hub.stop)
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)
        elif handler == signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    def put_back() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, stop)
    return put_back
