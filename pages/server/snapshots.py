"""Memory snapshots: larger than Streamlit's uploads may be, so they come by a route of their own.

One at a time, and the teacher's beside it, streams into a temporary file; a process that runs
nothing of it sums it up, and the file is gone. What stays is that answer, at most a hundred
kilobytes, under a key that only its sender knows.
"""

import asyncio
import errno
import secrets
from collections.abc import Callable
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
        self, read: Callable[[BinaryIO], str] = read_in_child, max_bytes: int = MAX_BYTES
    ) -> None:
        self._read, self._max_bytes = read, max_bytes
        self._answers: dict[str, str] = {}
        self._num_coming = 0

    def answer(self, key: str) -> str:
        """Return what was read; "" if the server has forgotten it, or never knew."""
        return self._answers.get(key, "")

    def keep(self, answer: str) -> str:
        """Return the key under which the answer lies until newer ones push it out."""
        key = secrets.token_urlsafe(16)
        self._answers[key] = answer
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
        self._num_coming += 1
        try:
            return await self._take(request)
        finally:
            self._num_coming -= 1

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

    async def _take(self, request: Request) -> Response:
        try:
            with TemporaryFile() as file:  # without a name: it is gone even if we are killed
                async with asyncio.timeout(MAX_SECONDS):
                    if not await self._save(request, file):
                        return Response(status_code=TOO_LARGE)
                answer = await asyncio.to_thread(self._read, file)
        except (TimeoutError, ClientDisconnect):
            return Response(status_code=TOO_LATE)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            return Response(status_code=NO_ROOM)
        return JSONResponse({"key": self.keep(answer)})

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
