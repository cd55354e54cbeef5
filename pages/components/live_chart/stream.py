"""The live stream's routes: server-sent events of a run, its CSV, and Plotly for the browser."""

import asyncio
import signal
import threading
from collections.abc import Callable
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
from core.train.run.records import csv_lines
from pages.components.live_chart.assets import plotly_javascript, plotly_version
from pages.components.live_chart.hub import Hub
from pages.components.live_chart.replay import Replays

MAX_CLIENTS: Final = 200
PLOTLY_PATH: Final = "/live/assets/plotly.min.js"
_STREAM_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """An answer that counts as a viewer for exactly as long as it is being sent."""

    media_type = "text/event-stream"

    def __init__(self, hub: Hub, run: str, last_event_id: str) -> None:
        super().__init__(hub.messages(run, last_event_id), headers=_STREAM_HEADERS)
        self._hub, self._run = hub, run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream until the viewer leaves or the server stops."""
        with self._hub.watching(self._run):
            await super().__call__(scope, receive, send)


class LiveStream:
    """The routes over one directory of runs."""

    def __init__(
        self, runs: Callable[[], Path] = runs_directory, max_clients: int = MAX_CLIENTS
    ) -> None:
        self.hub = Hub(runs)
        self.replays = Replays(lambda: self.hub.stopped)
        self._runs, self._max_clients = runs, max_clients

    def routes(self) -> list[Route]:
        """Return the routes for the server."""
        return [
            Route("/live/stream", self.stream, methods=["GET"]),
            Route("/live/metrics.csv", self.metrics, methods=["GET"]),
            Route(PLOTLY_PATH, plotly, methods=["GET"]),
        ]

    async def stream(self, request: Request) -> Response:
        """Answer with the events of `?run=`, or of the newest run when it is empty.

        With `?speed=` a run that has ended is replayed, from its first step.
        """
        run = request.query_params.get("run", "")
        try:
            if run:
                check_run_name(run)
        except ValueError as error:
            return _refused(400, str(error))
        if self.hub.stopped:
            return _refused(503, _("The server is stopping; load the page again in a moment."))
        if self.hub.num_viewers >= self._max_clients:
            message = _("This server has {limit} live viewers, the most it carries; try later.")
            return _refused(503, message.format(limit=self._max_clients))
        if request.method == "HEAD":
            return Response(media_type="text/event-stream", headers=_STREAM_HEADERS)
        if speed := request.query_params.get("speed"):
            return await self._replay(run, speed)
        return EventStream(self.hub, run, request.headers.get("Last-Event-ID", ""))

    async def _replay(self, run: str, speed: str) -> Response:
        if self.replays.is_full:
            return _refused(503, _("Too many replays run on this server; try later."))
        try:
            directory = open_run_directory(self._runs(), run)
            return await self.replays.open(directory, speed, _STREAM_HEADERS)
        except FileNotFoundError as error:
            return _refused(404, str(error))
        except ValueError as error:
            return _refused(400, str(error))

    async def metrics(self, request: Request) -> Response:
        """Answer with the steps of `?run=` as a CSV download."""
        run = request.query_params.get("run", "")
        try:
            directory = open_run_directory(self._runs(), run)
            increment = await asyncio.to_thread(RunReader(directory).read_new)
        except FileNotFoundError as error:
            return _refused(404, str(error))
        except ValueError as error:
            return _refused(400, str(error))
        headers = {"Content-Disposition": f'attachment; filename="{run}.csv"'}
        return StreamingResponse(
            csv_lines(increment.records), media_type="text/csv", headers=headers
        )


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


def plotly_url() -> str:
    """Return the address of Plotly on this server."""
    return f"{PLOTLY_PATH}?v={plotly_version()}"


def _refused(status: int, sentence: str) -> Response:
    return PlainTextResponse(sentence, status_code=status)


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
