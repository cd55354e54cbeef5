"""A server with the live routes on a real socket, and a browser's EventSource by hand."""

import contextlib
import http.client
import json
import threading
import time
from dataclasses import dataclass

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from core.train.run.directory import write_info
from core.train.run.records import StepRecord
from core.train.run.store import RunStore
from pages.components.live_chart import hub
from pages.components.live_chart.stream import LiveStream
from pages.server.guard import AllowedHosts

PATIENCE = 10


@dataclass
class Served:
    port: int
    live: LiveStream
    server: uvicorn.Server

    def stop_streams(self):
        self.server.servers[0].get_loop().call_soon_threadsafe(self.live.hub.stop)


class Stream:
    """A browser's EventSource, by hand."""

    def __init__(self, port, run="", **headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.connection.request("GET", f"/live/stream?run={run}", headers=headers)
        self.answer = self.connection.getresponse()

    def next(self):
        """Return the next (kind, id, data); None when the server has ended the stream."""
        fields = {}
        while line := self.answer.readline():
            name, _colon, value = line.decode().rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif "event" in fields:
                return fields["event"], fields.get("id"), json.loads(fields["data"])
            else:
                fields = {}
        return None

    def close(self):
        self.answer.close()
        self.connection.close()


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "POLL_SECONDS", 0.02)
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


@contextlib.contextmanager
def serving(live):
    app = Starlette(routes=live.routes(), middleware=[Middleware(AllowedHosts)])
    settings = uvicorn.Config(app, host="127.0.0.1", port=0, ws="none", log_level="error")
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_until(lambda: server.started)
    served = Served(server.servers[0].sockets[0].getsockname()[1], live, server)
    try:
        yield served
    finally:
        served.stop_streams()
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive(), "an open stream kept the server from stopping"


@pytest.fixture
def served(runs):
    with serving(LiveStream(lambda: runs, max_clients=3)) as started:
        yield started


@pytest.fixture
def open_stream(served):
    opened = []

    def start(run="", **headers):
        opened.append(Stream(served.port, run, **headers))
        return opened[-1]

    yield start
    for stream in opened:
        stream.close()


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


@pytest.fixture
def until():
    """Return until(condition): wait until it holds."""
    return wait_until


def request(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(headers.pop("method", "GET"), path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


@pytest.fixture
def get():
    """Return get(port, path, **headers): the answer and its body."""
    return request


def write_run(folder, name, num_steps=0):
    directory = folder / f"{name}.tmp"
    directory.mkdir()
    write_info(directory, {"name": name, "created": time.time(), "config": {"name": name}})
    directory = directory.rename(folder / name)
    with RunStore(directory) as store:
        store.write_state("finished", step=0)
        commit_steps(store, range(1, num_steps + 1))
    return directory


@pytest.fixture
def make_run():
    """Return make_run(folder, name, num_steps): a finished run."""
    return write_run


def commit_steps(store, steps, **fields):
    for step in steps:
        usual = {
            "time": 1e9 + step,
            "seconds": 0.5,
            "loss": 1.0 / step,
            "learning_rate": 1e-3,
            "grad_norm": 1.0,
            "tokens_per_second": 1e4,
            "resident_bytes": 1 << 28,
        }
        store.append_step(StepRecord(step=step, **{**usual, **fields}))


@pytest.fixture
def train():
    """Return train(store, steps, **fields): commit these steps."""
    return commit_steps
