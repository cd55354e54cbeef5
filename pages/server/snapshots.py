"""Memory snapshots: larger than Streamlit's uploads may be, so they come by a route of their own.

One at a time, and the teacher's beside it, streams into a temporary file; a process that runs
nothing of it sums it up, and the file is gone. What stays is that answer, at most a hundred
kilobytes, under a key that only its sender knows. The key is told as soon as the file's segments
are known; the recorded time is added when it is counted.
"""

import asyncio
import errno
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from functools import cache
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.budget.diagnosis.snapshot.answer import MAX_BYTES, read_in_child
from pages.server.rate import TooOftenError, turns
from pages.server.shares import visitor_in

PATH: Final = "/upload/snapshot"
SENT: Final = "diagnose_sent"
"""In the session: the key of an answer and the name of its file."""
MAX_SECONDS: Final = 180  # for a file to arrive: the next one waits
IDLE_SECONDS: Final = 10  # without a byte: nobody holds the place with an idle line
MAX_ANSWERS: Final = 64
_PIECE: Final = 2**20  # bytes that are written together
_MOST_DIGITS: Final = 20  # more than any file has bytes
# What the browser's part has a word for.
TOO_LATE, TOO_LARGE, TOO_OFTEN, BUSY, NO_ROOM = 408, 413, 429, 503, 507


class Snapshots:
    """The answers of one server, and the file that is just being read; used by its loop only."""

    def __init__(
        self, read: Callable[[BinaryIO], Iterator[str]] = read_in_child, max_bytes: int = MAX_BYTES
    ) -> None:
        self._read, self._max_bytes = read, max_bytes
        self._answers: dict[str, list[str]] = {}
        self._tasks = set[asyncio.Task[None]]()  # that read on
        self._num_coming = 0

    def answers(self, key: str) -> Sequence[str]:
        """Return what was read, the newest last; () if the server has forgotten or never knew."""
        return tuple(self._answers.get(key, ()))

    def keep(self, *answers: str) -> str:
        """Return the key under which the answers lie until newer ones push them out."""
        key = secrets.token_urlsafe(16)
        self._answers[key] = list(answers)
        while len(self._answers) > MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]
        return key

    async def receive(self, request: Request) -> Response:
        """Take a file as the body of a POST; answer with its key, or with a status that says no.

        A GET asks before that: a browser that still sends does not hear an answer.
        """
        if refused := self._refused(request):
            return Response(status_code=refused)
        if request.method != "POST":
            return Response(status_code=204)
        steps = self._take(request)
        response = await anext(steps)
        task = asyncio.create_task(_go_on(steps))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return response

    def _refused(self, request: Request) -> int:
        """Return the status that says no, after counting a turn; 0 if the file may come."""
        if _announced(request.headers) > self._max_bytes:
            return TOO_LARGE
        who = visitor_in(request.scope)
        if self._num_coming > who.teaches:  # beside a student's there is room for the teacher's
            return BUSY
        try:
            address = "" if who.teaches else who.address
            turns().take(who.browser or who.address, "snapshot", address)
        except TooOftenError:
            return TOO_OFTEN
        return 0

    async def _take(self, request: Request) -> AsyncGenerator[Response]:
        """Yield the response as soon as something was read, and then read on."""
        self._num_coming += 1
        refused = 0
        try:
            with TemporaryFile() as file:  # without a name: it is gone even if we are killed
                async with asyncio.timeout(MAX_SECONDS):
                    refused = 0 if await self._save(request, file) else TOO_LARGE
                if not refused:
                    async for key in self._told(self._read(file)):
                        yield JSONResponse({"key": key})
        except (TimeoutError, ClientDisconnect):
            refused = TOO_LATE
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            refused = NO_ROOM
        finally:
            self._num_coming -= 1
        if refused:
            yield Response(status_code=refused)

    async def _told(self, answers: Iterator[str]) -> AsyncGenerator[str]:
        """Keep each answer as it comes; yield their key once, when the first is there."""
        key = self.keep(await asyncio.to_thread(next, answers))
        yield key
        while more := await asyncio.to_thread(next, answers, ""):
            self._answers.get(key, []).append(more)

    async def _save(self, request: Request, file: BinaryIO) -> bool:
        """Write what comes; return whether it was no more than is taken."""
        num_bytes, piece, parts = 0, bytearray(), request.stream()
        while part := await asyncio.wait_for(anext(parts, b""), IDLE_SECONDS):
            num_bytes += len(part)
            if num_bytes > self._max_bytes:
                return False
            piece += part
            if len(piece) >= _PIECE:
                await asyncio.to_thread(file.write, bytes(piece))
                piece.clear()
        file.write(piece)
        file.seek(0)
        return True


async def _go_on(steps: AsyncIterator[Response]) -> None:
    """Take what is left of the steps: nobody waits for a response any more."""
    async for _none in steps:
        pass


def _announced(headers: Headers) -> int:
    """Return the bytes that are to come; 0 if that is not said: they are counted anyway."""
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdecimal()):
        return 0
    return int(length) if len(length) < _MOST_DIGITS else MAX_BYTES + 1


@cache
def snapshots() -> Snapshots:
    return Snapshots()


def snapshot_routes() -> list[Route]:
    return [Route(PATH, snapshots().receive, methods=["GET", "POST"])]
