"""Connections are bounded by address before they say a word, and counted until they are closed."""

import asyncio
import inspect
import socket
import sys
from types import SimpleNamespace

import pytest
import uvicorn

from pages.server import connections
from pages.server.connections import Connections, bound_connections

STUDENT, OTHER, TEACHER = "127.0.0.3", "127.0.0.4", "127.0.0.1"


class Begins(asyncio.Protocol):
    """The server's first protocol; it hands over to another one, as for a websocket."""

    def connection_made(self, transport):
        transport.write(b"in")
        transport.set_protocol(asyncio.Protocol())


async def come(port, source, number):
    """Open so many connections; return those that were let in."""
    let_in = []
    for _each in range(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
        try:
            said = await reader.read(2)
        except ConnectionError:
            said = b""
        if said:
            let_in.append(writer)
        else:
            writer.close()
    return let_in


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS answers on 127.0.0.1 only")
def test_silent_connections_of_one_address_leave_room_for_others_and_for_the_teacher(monkeypatch):
    monkeypatch.setattr(connections, "num_connections", lambda: 24)

    async def scene():
        loop = asyncio.get_running_loop()
        bound_connections(loop)
        server = await loop.create_server(Begins, "127.0.0.1", 0, backlog=64)
        port = server.sockets[0].getsockname()[1]
        async with server:
            of_student = await come(port, STUDENT, 30)
            others = [await come(port, OTHER, 30), await come(port, TEACHER, 30)]
            numbers = [len(of_student), *map(len, others)]
            for writer in (*of_student[:5], *others[1]):
                writer.close()
                await writer.wait_closed()
            others.append(await come(port, STUDENT, 30))
            numbers.append(len(others[-1]))
            for writer in (*of_student, *others[0], *others[2]):
                writer.close()
        return numbers

    assert asyncio.run(asyncio.wait_for(scene(), 60)) == [16, 2, 6, 5]


def test_a_transport_that_forgets_its_socket_when_it_ends_as_tls_does_is_given_back():
    connections = Connections(1)
    for _each in range(3):
        with socket.socket() as held:
            known = {"peername": (TEACHER, 1), "socket": held}
            transport = SimpleNamespace(get_extra_info=known.get, abort=lambda: None)
            assert connections.let_in(transport)
            assert not connections.let_in(transport)
        known.clear()


def test_a_socket_that_waits_in_a_long_queue_keeps_its_queue(monkeypatch):
    asked = []

    class Socket:
        def listen(self, queue):
            asked.append(queue)

    async def scene():
        loop = asyncio.get_running_loop()

        async def create(_make, **how):
            asked.append(how["backlog"])

        monkeypatch.setattr(loop, "create_server", create)
        bound_connections(loop)
        await loop.create_server(Begins, sock=Socket(), backlog=2048)

    asyncio.run(scene())
    assert asked == [connections._AT_A_TIME, 2048]


def test_the_server_listens_through_this_loop():
    """A canary: uvicorn and Streamlit hand the socket and its queue to `create_server`."""
    assert "await loop.create_server" in inspect.getsource(uvicorn.Server.startup)
    assert "sock=sock" in inspect.getsource(uvicorn.Server.startup)
