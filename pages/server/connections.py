"""Connections are counted where they come in: what is over is closed before it says a word.

Every one takes a file descriptor, also one that asks for nothing. Without an end to them a process
that may open few files can open none any more, not even the run that the teacher wants to stop.
"""

import asyncio
from asyncio.trsock import TransportSocket
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from pages.server.descriptors import num_connections
from pages.server.shares import Shares, ShareSpentError, Visitor, visitor_at

FOR_TEACHERS: Final = 16  # a browser opens six
_AT_A_TIME: Final = 16  # accepted before any is counted


class Connections:
    """The open connections of this server."""

    def __init__(self, most: int) -> None:
        self._shares = Shares(most, of_browser=most, reserve=FOR_TEACHERS)
        self._open: dict[TransportSocket, Visitor] = {}

    def let_in(self, transport: asyncio.Transport) -> bool:
        """Count a connection while its socket is open, or close it if there are too many."""
        self._forget_closed()
        visitor = visitor_at((transport.get_extra_info("peername") or ("",))[0])
        try:
            self._shares.check(visitor)
        except ShareSpentError:
            transport.abort()
            return False
        self._shares.add(visitor, 1)
        # Of TLS the transport forgets its socket when it ends.
        self._open[transport.get_extra_info("socket")] = visitor
        return True

    def _forget_closed(self) -> None:
        # A transport that is closing still holds its descriptor until all is sent.
        for socket in [each for each in self._open if each.fileno() == -1]:
            self._shares.add(self._open.pop(socket), -1)


class _Door(asyncio.Protocol):
    """Hands a connection that is let in to the server's own protocol."""

    def __init__(self, connections: Connections, make: Callable[[], asyncio.Protocol]) -> None:
        self._connections, self._make = connections, make

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connection = cast("asyncio.Transport", transport)
        if self._connections.let_in(connection):
            protocol = self._make()
            connection.set_protocol(protocol)
            protocol.connection_made(connection)


def bound_connections(loop: asyncio.AbstractEventLoop) -> None:
    """Bound the connections of the servers that this loop starts from now on."""
    create, connections = loop.create_server, Connections(num_connections())

    async def create_server(make: Callable[[], Any], *where: Any, **how: Any) -> asyncio.Server:  # noqa: ANN401
        queue = how.pop("backlog", 100)
        server = await create(partial(_Door, connections, make), *where, backlog=_AT_A_TIME, **how)
        if "sock" in how:  # others still wait in a long queue until they are accepted
            how["sock"].listen(queue)
        return server

    setattr(loop, "create_server", create_server)  # noqa: B010  a method
