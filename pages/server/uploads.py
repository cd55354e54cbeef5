"""Uploaded files stay in memory while their session lives: how many, and how many bytes.

Streamlit bounds one file (`server.maxUploadSize`); this bounds those of a session, a browser, an
address and of all together. What is over is refused before it is read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.runtime.session_manager import ClientContext

from core.language import N_
from core.language.catalogue import translations
from core.units import format_bytes
from pages.server.control_right import visitor
from pages.server.shares import Shares, ShareSpentError, Visitor, visitor_in
from pages.server.streamlit_session import stored_uploads

_MIB: Final = 2**20
MAX_FILES: Final = 16  # of a session
SESSION_BYTES: Final = 16 * _MIB
BROWSER_BYTES: Final = 32 * _MIB
TOTAL_BYTES: Final = 128 * _MIB
TEACHER_BYTES: Final = 16 * _MIB  # of the total
_MOST_DIGITS: Final = 20  # more than any file has bytes
_ROUTE: Final = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
SPENT: Final = N_("This page keeps at most {files} files and {size}: reload it to start over.")
FULL: Final = N_("The server has no room for more uploaded files: try again in a few minutes.")

Stored = Mapping[str, Mapping[str, Any]]


class Uploads:
    """Who keeps how many bytes: files that are stored, and those that are on their way."""

    def __init__(self, stored: Callable[[], Stored] = stored_uploads) -> None:
        self._stored = stored
        self._coming: list[tuple[str, int]] = []
        self._owners: dict[str, Visitor] = {}

    def check(self, session: str, owner: Visitor, num_bytes: int) -> None:
        """Say whether the session may send a file of that size.

        Raises:
            ShareSpentError: If not; says why.
        """
        kept = self._kept()
        own = [size for each, size in kept if each == session]
        if len(own) >= MAX_FILES or sum(own) + num_bytes > SESSION_BYTES:
            raise ShareSpentError(SPENT)
        shares = Shares(TOTAL_BYTES, of_browser=BROWSER_BYTES, reserve=TEACHER_BYTES)
        for each, size in kept:
            shares.add(self._owners.get(each, owner), size)
        try:
            shares.check(owner, num_bytes)
        except ShareSpentError:
            raise ShareSpentError(FULL) from None

    @contextmanager
    def coming(self, session: str, owner: Visitor, num_bytes: int) -> Iterator[None]:
        """Count a file that is being sent while the block runs; then the session keeps it."""
        self._owners[session] = owner
        self._coming.append((session, num_bytes))
        try:
            yield
        finally:
            self._coming.remove((session, num_bytes))

    def _kept(self) -> list[tuple[str, int]]:
        """Return session and size of every file, and forget who owned what is gone."""
        stored = [
            (session, len(file.data))
            for session, files in tuple(self._stored().items())
            for file in tuple(files.values())
        ]
        kept = [*stored, *self._coming]
        sessions = {session for session, _size in kept}
        self._owners = {each: self._owners[each] for each in sessions & self._owners.keys()}
        return kept


@cache
def uploads() -> Uploads:
    return Uploads()


def upload_refusal(session: str, client: ClientContext, language: str) -> str:
    """Return the sentence why no file of the largest size is taken now; "" if one is."""
    owner = visitor(client.remote_ip or "", dict(client.headers), client.cookies)
    try:
        uploads().check(session, owner, _largest())
    except ShareSpentError as error:
        return _sentence(error, language)
    return ""


class UploadBounds:
    """Refuse a file that is one too many before it is read; plain ASGI."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the file while it comes, then pass the request on."""
        route = _ROUTE.search(str(scope.get("path", "")))
        if scope["type"] != "http" or scope["method"] != "PUT" or not route:
            await self.app(scope, receive, send)
            return
        num_bytes = _announced(Headers(scope=scope).get("content-length", ""))
        session, owner = route[1], visitor_in(scope)
        try:
            uploads().check(session, owner, num_bytes)
        except ShareSpentError as error:
            refusal = PlainTextResponse(_sentence(error), status_code=413)
            await refusal(scope, receive, send)
            return
        with uploads().coming(session, owner, num_bytes):
            await self.app(scope, receive, send)


def _announced(length: str) -> int:
    """Return the bytes of a content-length; Python reads no number of thousands of digits."""
    if not (length.isascii() and length.isdecimal()):
        return _largest()
    return int(length) if len(length) < _MOST_DIGITS else TOTAL_BYTES


def _largest() -> int:
    return int(config.get_option("server.maxUploadSize")) * _MIB


def _sentence(error: ShareSpentError, language: str = "en") -> str:
    sentence = translations(language).gettext(str(error))
    return sentence.format(files=MAX_FILES, size=format_bytes(SESSION_BYTES))
