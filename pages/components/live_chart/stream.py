"""The live stream's routes: events of a run, live or replayed, its CSV, Plotly for the browser."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from core.language import LANGUAGES, _
from core.train.run.directory import (
    METRICS_FILE,
    check_run_name,
    open_run_directory,
    runs_directory,
)
from core.train.run.disk import sentence_of, to_json
from core.train.run.reader import RunReader
from core.train.run.recorded import check_preset, recorded_run
from core.train.run.records import csv_lines
from core.train.run.replay import ReplayReader
from core.train.run.shelf import newest_run
from core.units import ByteUnit
from pages.components.live_chart.assets import PLOTLY_PATH, plotly_javascript, plotly_version
from pages.components.live_chart.charts import BESIDE
from pages.components.live_chart.exports import Export, Exports, File
from pages.components.live_chart.feed import (
    LOOK_SECONDS,
    Feed,
    Position,
    curves_of,
    recorded_messages,
)
from pages.components.live_chart.hub import Hub
from pages.components.run_player.run_player import player_html
from pages.server.descriptors import carried
from pages.server.shares import Shares, ShareSpentError, Visitor, visitor_in

MAX_CLIENTS: Final = 200
MAX_REPLAYS: Final = 40  # a live run costs the same for a hundred viewers, these do not
MAX_EXPORTS: Final = 90  # that wait or are sent
OF_BROWSER: Final = 8  # of each of these; HTTP/1.1 gives a browser six connections
FOR_TEACHERS: Final = 10
MAX_NAME: Final = 200  # characters of what a run is called beside another
_LOOKS_PER_HEARTBEAT: Final = 30
_STREAM_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class Counted(StreamingResponse):
    """An answer that counts for exactly as long as it is being sent."""

    def __init__(
        self,
        parts: AsyncIterator[bytes],
        counted: AbstractContextManager[None],
        headers: Mapping[str, str] = _STREAM_HEADERS,
        media_type: str = "text/event-stream",
    ) -> None:
        super().__init__(parts, headers=headers, media_type=media_type)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the parts until the reader leaves or the server stops."""
        with self._counted:
            await super().__call__(scope, receive, send)


class LiveStream:
    """The routes over one directory of runs."""

    def __init__(
        self, runs: Callable[[], Path] = runs_directory, max_clients: int = MAX_CLIENTS
    ) -> None:
        self.hub = Hub(runs)
        self._runs, self._exports = runs, Exports()
        share = partial(Shares, of_browser=OF_BROWSER, reserve=FOR_TEACHERS)
        self.viewers, self.replays = share(carried(max_clients)), share(MAX_REPLAYS)
        self.exporting = share(MAX_EXPORTS)

    def routes(self) -> list[Route]:
        return [
            Route("/live/stream", self.stream, methods=["GET"]),
            Route("/live/metrics.csv", self.metrics, methods=["GET"]),
            Route("/live/curves.json", self.curves, methods=["GET"]),
            Route("/live/run.html", self.player, methods=["GET"]),
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
        visitor = visitor_in(request.scope)
        try:
            if speed := request.query_params.get("speed"):
                return await self._replay(run, speed, visitor)
            self.viewers.check(visitor)
        except ShareSpentError as error:
            return _refused(503, str(error))
        if recording:
            return Counted(self._recorded(recording), self._watching("", visitor))
        messages = self.hub.messages(run, request.headers.get("Last-Event-ID", ""))
        return Counted(messages, self._watching(run, visitor))

    @contextmanager
    def _watching(self, wanted: str, visitor: Visitor) -> Iterator[None]:
        with self.viewers.held(visitor), self.hub.watching(wanted):
            yield

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
        return None

    async def _replay(self, run: str, speed: str, visitor: Visitor) -> Response:
        self.replays.check(visitor)
        try:
            with self.replays.held(visitor):
                directory = open_run_directory(self._runs(), run)
                reader = await asyncio.to_thread(ReplayReader, directory, speed)
        except (FileNotFoundError, ValueError) as error:
            return _refused_for(error)
        return Counted(self._replayed(reader), self.replays.held(visitor))

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
        return await self._export(request, (".csv", "text/csv"), _csv)

    async def curves(self, request: Request) -> Response:
        """Answer with what is drawn of `?run=` beside another run."""
        kind = (".json", "application/json")
        return await self._export(request, kind, lambda run: File(to_json(curves_of(run)).encode()))

    async def player(self, request: Request) -> Response:
        """Answer with `?run=`, or a `?recording=`, as one HTML file that plays anywhere.

        Each `?beside=` is another run of its picture, called by the `?name=` of the same place.
        """
        asked = request.query_params.get("lang", "")
        language = asked if asked in LANGUAGES else "en"
        unit: ByteUnit = "GB" if request.query_params.get("units") == "GB" else "GiB"
        try:
            beside = self._beside(request)
            known = [f"{name} {run.name} {_size(run)}" for run, name in beside]
        except (FileNotFoundError, ValueError) as error:
            return _refused_for(error)
        kind = (".html", "text/html", language, unit, *known)
        text = partial(player_html, language=language, unit=unit, beside=beside)
        return await self._export(request, kind, lambda directory: File(text(directory).encode()))

    def _beside(self, request: Request) -> tuple[tuple[Path, str], ...]:
        query = request.query_params
        pairs = zip(query.getlist("beside"), query.getlist("name"), strict=False)
        chosen = tuple(pairs)[: len(BESIDE)]
        return tuple(
            (open_run_directory(self._runs(), run), name[:MAX_NAME]) for run, name in chosen
        )

    async def _export(
        self, request: Request, kind: tuple[str, ...], make: Callable[[Path], File]
    ) -> Response:
        """Answer with a file made of a run; `kind` begins with its suffix and its media type."""
        visitor = visitor_in(request.scope)
        try:
            self.exporting.check(visitor)
            with self.exporting.held(visitor):
                directory = await self._directory(request)
                file = await self._exports.file(
                    visitor.browser or visitor.address,
                    Export(kind, directory),
                    lambda: make(directory),
                )
        except ShareSpentError as error:
            return _refused(503, str(error))
        except (FileNotFoundError, ValueError) as error:
            return _refused_for(error)
        suffix, media_type = kind[:2]
        headers = {
            "Content-Disposition": f'attachment; filename="{directory.name}{file.mark}{suffix}"',
            "Content-Length": str(len(file.content)),
        }
        return Counted(_whole(file), self.exporting.held(visitor), headers, media_type)

    async def _directory(self, request: Request) -> Path:
        run, recording = _asked(request)
        if not recording:
            return open_run_directory(self._runs(), run)
        check_preset(recording)
        return await asyncio.to_thread(recorded_run, recording)


def _size(directory: Path) -> int:
    """Return what grows with a run."""
    return (directory / METRICS_FILE).stat().st_size


def _csv(directory: Path) -> File:
    increment = RunReader(directory).read_new()
    # A table has no place for a remark: its name says that damaged steps are missing.
    mark = "-incomplete" if increment.num_damaged else ""
    return File("".join(csv_lines(increment.records)).encode(), mark)


async def _whole(file: File) -> AsyncIterator[bytes]:
    yield file.content


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
    return _refused(404 if isinstance(error, FileNotFoundError) else 400, sentence_of(error))


_live = LiveStream()


def routes() -> list[Route]:
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
