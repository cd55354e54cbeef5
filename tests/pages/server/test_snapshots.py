"""The route for memory snapshots: how large, how many, how often; nothing stays on the disk."""

import asyncio
import contextlib
import os
import pickle
import socket
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.budget.diagnosis.snapshot.answer import MAX_BYTES, as_snapshot
from pages.server import rate
from pages.server import snapshots as room
from pages.server.snapshots import MAX_ANSWERS, PATH, Snapshots, snapshot_routes
from tests.browser.dashboard import PATIENCE, running_server, wait_until
from tests.core.budget.diagnosis.made_snapshot import two_steps, write

PROGRAM = "core.budget.diagnosis.snapshot"


@pytest.fixture(autouse=True)
def own_disk(tmp_path, monkeypatch):
    rate.turns.clear()
    folder = tmp_path / "disk"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == [], "nothing of an upload stays on the disk"


def client_of(monkeypatch, snapshots):
    monkeypatch.setattr(room, "snapshots", lambda: snapshots)
    return TestClient(Starlette(routes=snapshot_routes()))


def test_a_file_is_read_once_and_its_answer_lies_under_a_key(tmp_path, monkeypatch):
    made = two_steps(num_layers=4)
    path = write(tmp_path / "made.pickle", made.dump())
    snapshots = Snapshots()
    answer = client_of(monkeypatch, snapshots).post(PATH, content=path.read_bytes())
    key = answer.json()["key"]
    assert as_snapshot(snapshots.answers(key)).reserved == made.reserved
    assert len(key) > 20
    assert snapshots.answers("another") == ()


def test_what_is_too_large_is_refused_announced_or_not(monkeypatch):
    read = []
    client = client_of(monkeypatch, Snapshots(lambda file: read.append(file) or iter(["{}"]), 1000))
    parts = iter([b"x" * 400] * 3)
    assert client.post(PATH, content=b"x" * 1001).status_code == room.TOO_LARGE
    assert client.post(PATH, content=parts).status_code == room.TOO_LARGE
    assert client.post(PATH, headers={"content-length": "9" * 4000}).status_code == room.TOO_LARGE
    assert read == []
    assert client.post(PATH, content=b"x" * 1000).status_code == 200
    assert client.put(PATH).status_code == 405
    assert MAX_BYTES == 256 * 2**20


def test_pieces_of_any_size_arrive_whole(monkeypatch):
    found = []

    def read(file):
        found.append(file.read())
        yield "{}"

    client = client_of(monkeypatch, Snapshots(read))
    whole = bytes(range(256)) * 10_000
    client.post(PATH, content=iter([whole[:7], whole[7:1_500_000], whole[1_500_000:]]))
    assert found == [whole]


def test_a_browser_may_send_five_in_a_minute(monkeypatch):
    client = client_of(monkeypatch, Snapshots(lambda _file: iter(["{}"])))
    found = []
    for _each in range(5):  # it asks, and then it sends
        found += [client.get(PATH).status_code, client.post(PATH, content=b"x").status_code]
    assert found == [204, 200] * 5
    assert client.get(PATH).status_code == room.TOO_OFTEN
    assert client.post(PATH, content=b"x").status_code == room.TOO_OFTEN


def scope_of(host):
    path = {"type": "http", "method": "POST", "path": PATH, "query_string": b"", "headers": []}
    return path | {"client": (host, 1)}


HOSTS = ("203.0.113.7", "127.0.0.1")  # a student's, and the teacher's own computer


@pytest.mark.parametrize("limit", ["MAX_SECONDS", "IDLE_SECONDS"])
def test_one_is_read_at_a_time_beside_the_teacher_s_and_a_slow_or_lost_one_leaves(
    monkeypatch, limit
):
    monkeypatch.setattr(room, limit, 0.05)
    snapshots = Snapshots(lambda _file: iter(["{}"]))

    async def post(*messages, host=HOSTS[0]):
        left = list(messages)

        async def receive():
            if not left:
                await asyncio.Event().wait()
            return left.pop(0)

        return await snapshots.receive(room.Request(scope_of(host), receive))

    async def scene():
        slow = asyncio.create_task(post({"type": "http.request", "body": b"x", "more_body": True}))
        await asyncio.sleep(0)
        beside = [await post({"type": "http.request", "body": b"x"}, host=each) for each in HOSTS]
        lost = [await slow, await post({"type": "http.disconnect"})]
        return [*beside, *lost, await post({"type": "http.request", "body": b"x"})]

    found = [each.status_code for each in asyncio.run(scene())]
    assert found == [room.BUSY, 200, room.TOO_LATE, room.TOO_LATE, 200]


def test_the_key_is_told_with_the_first_answer_and_the_second_lies_under_it_later(monkeypatch):
    may_end = threading.Event()

    def read(_file):
        yield "first"
        assert may_end.wait(PATIENCE)
        yield "second"

    snapshots = Snapshots(read)
    with client_of(monkeypatch, snapshots) as client:
        key = client.post(PATH, content=b"x").json()["key"]
        assert snapshots.answers(key) == ("first",)
        assert snapshots._num_coming == 1
        may_end.set()
        wait_until(lambda: snapshots.answers(key) == ("first", "second"))
        wait_until(lambda: snapshots._num_coming == 0)


def test_a_full_disk_is_said(monkeypatch):
    def full(_file):
        raise OSError(28, "No space left on device")

    answer = client_of(monkeypatch, Snapshots(full)).post(PATH, content=b"x")
    assert answer.status_code == room.NO_ROOM


def test_old_answers_make_room_for_new_ones():
    snapshots = Snapshots()
    keys = [snapshots.keep(str(number)) for number in range(MAX_ANSWERS + 3)]
    assert [snapshots.answers(key) for key in keys[:4]] == [(), (), (), ("3",)]


def test_the_part_has_a_word_for_every_refusal():
    from pages.components.large_file.large_file import WORDS

    statuses = (room.TOO_LATE, room.TOO_LARGE, room.TOO_OFTEN, room.BUSY, room.NO_ROOM)
    assert {str(each) for each in statuses} <= set(WORDS)
    script = Path(room.__file__).parents[1] / "components" / "large_file" / "large_file.js"
    assert "words[request.status]" in script.read_text(encoding="utf-8")


def readers_of(server):
    """Return the processes that read a snapshot, whoever started them."""
    folder = {"B2G_STATE_DIR": str(server.state)}
    found = []
    for process in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            is_reader = PROGRAM in (process.info["cmdline"] or ())
            if is_reader and folder.items() <= process.environ().items():
                found.append(process)
    return found


@pytest.mark.parametrize(
    ("when", "ends"),
    [("while it comes", "kill"), ("while it is read", "terminate"), ("while it is read", "kill")],
)
def test_a_server_that_is_stopped_leaves_neither_file_nor_process(tmp_path, ends, when):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    blocks = [{"size": 0, "state": "inactive"}] * 10_000  # small to send, endless to read
    endless = pickle.dumps({"segments": [{"address": 0, "total_size": 0, "blocks": blocks}] * 9999})
    environment = {**os.environ, "TMPDIR": str(temporary), "TEMP": str(temporary)}
    with (
        running_server(tmp_path, environment=environment) as server,
        socket.create_connection((server.address, server.port)) as line,
    ):
        host, more = f"{server.address}:{server.port}", 1000 * (when == "while it comes")
        head = f"POST {PATH} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(endless) + more}"
        line.sendall(head.encode() + b"\r\n\r\n" + endless)
        if more:
            time.sleep(1)
        else:
            wait_until(lambda: readers_of(server))
        getattr(server.process, ends)()
        server.process.wait(PATIENCE)
        wait_until(lambda: not readers_of(server))
        assert max([each.stat().st_size for each in temporary.iterdir()], default=0) < len(endless)
