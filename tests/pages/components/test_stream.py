import asyncio
import contextlib
import csv
import gzip
import http.client
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from core.train.info import write_info
from core.train.records import StepRecord
from core.train.store import RunStore
from pages.components.live_chart import feed, hub
from pages.components.live_chart.assets import plotly_path
from pages.components.live_chart.stream import LiveStream, install_stop_signal, plotly_url, routes
from pages.shared.guard import AllowedHosts

OLD, NEW = "20260101t000000z-old-0001", "20260102t000000z-new-0002"
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
    until(lambda: server.started)
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


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(headers.pop("method", "GET"), path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def make_run(folder, name, num_steps=0):
    directory = folder / f"{name}.tmp"
    directory.mkdir()
    write_info(directory, {"name": name, "created": time.time(), "config": {"name": name}})
    directory = directory.rename(folder / name)
    with RunStore(directory) as store:
        store.write_state("finished", step=0)
        train(store, range(1, num_steps + 1))
    return directory


def train(store, steps, **fields):
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


def test_a_late_joiner_gets_a_snapshot_with_everything_that_a_chart_needs(runs, open_stream):
    directory = make_run(runs, OLD, num_steps=3)
    with RunStore(directory) as store:
        train(store, [4], loss=float("nan"))
        store.append_event("eval", 4, validation_loss=3.0)
    stream = open_stream(OLD)
    assert stream.answer.status == 200
    assert stream.answer.headers["Content-Type"].startswith("text/event-stream")
    assert stream.answer.headers["Cache-Control"] == "no-cache"
    assert stream.answer.headers["X-Accel-Buffering"] == "no"
    kind, identity, data = stream.next()
    assert (kind, identity) == ("snapshot", f"{OLD}:4:1")
    assert data.keys() == {"run", "info", "state", "columns", "events", "total_records"}
    assert (data["run"], data["total_records"]) == (OLD, 4)
    assert data["info"]["config"] == {"name": OLD}
    assert data["state"]["state"] == "finished"
    assert tuple(data["columns"]) == feed.COLUMNS
    assert data["columns"]["step"] == [1, 2, 3, 4]
    assert data["columns"]["loss"] == [1.0, 0.5, 1.0 / 3, None]
    assert data["columns"]["flags"] == [0, 0, 0, 1]
    assert data["events"][0]["validation_loss"] == 3.0


def test_a_long_run_arrives_decimated_with_its_spike(runs, open_stream):
    directory = make_run(runs, OLD, num_steps=2000)
    with RunStore(directory) as store:
        train(store, [2001], loss=99.0)
        train(store, range(2002, 4001))
    _kind, identity, data = open_stream(OLD).next()
    assert len(data["columns"]["step"]) <= 1500
    assert max(data["columns"]["loss"]) == 99.0
    assert data["total_records"] == 4000
    assert identity == f"{OLD}:4000:0"


def test_updates_bring_only_what_is_new_with_growing_ids(runs, open_stream):
    directory = make_run(runs, OLD, num_steps=2)
    stream = open_stream(OLD)
    assert stream.next()[0] == "snapshot"
    places = [(2, 0)]
    with RunStore(directory) as store:
        for step in range(3, 8):
            train(store, [step])
            store.append_event("eval", step, validation_loss=float(step))
            while places[-1] != (step, step - 2):
                kind, identity, data = stream.next()
                run, num_records, num_events = identity.split(":")
                place = (int(num_records), int(num_events))
                assert (kind, run) == ("update", OLD)
                assert place > places[-1]
                assert data["columns"]["step"] == list(range(places[-1][0] + 1, place[0] + 1))
                seqs = [event["seq"] for event in data["events"]]
                assert seqs == list(range(places[-1][1], place[1]))
                places.append(place)


def test_two_viewers_get_the_same_bytes_from_one_reading_of_the_disk(
    runs, open_stream, monkeypatch
):
    opened = []
    monkeypatch.setattr(hub, "Feed", lambda directory: opened.append(1) or feed.Feed(directory))
    directory = make_run(runs, OLD, num_steps=2)
    one, two = open_stream(OLD), open_stream("")
    assert one.next() == two.next()
    with RunStore(directory) as store:
        train(store, [3])
    assert one.next() == two.next()
    assert len(opened) == 1


def test_a_change_of_state_alone_is_an_update(runs, open_stream):
    directory = make_run(runs, OLD, num_steps=1)
    stream = open_stream(OLD)
    stream.next()
    with RunStore(directory) as store:
        store.write_state("failed", step=1, reason="non_finite")
    kind, _id, data = stream.next()
    assert kind == "update"
    assert (data["state"]["state"], data["state"]["reason"]) == ("failed", "non_finite")
    assert (data["columns"]["step"], data["events"]) == ([], [])


def test_last_event_id_resumes_with_exactly_the_newer_part(runs, open_stream):
    directory = make_run(runs, OLD, num_steps=5)
    with RunStore(directory) as store:
        store.append_event("eval", 5, validation_loss=1.0)
        store.append_event("eval", 5, validation_loss=2.0)
    kind, identity, data = open_stream(OLD, **{"Last-Event-ID": f"{OLD}:3:1"}).next()
    assert (kind, identity) == ("update", f"{OLD}:5:2")
    assert data["columns"]["step"] == [4, 5]
    assert [event["validation_loss"] for event in data["events"]] == [2.0]


@pytest.mark.parametrize(
    "last_event_id",
    [f"{OLD}:9:0", f"{OLD}:0:9", f"{NEW}:1:0", f"{OLD}:-1:0", "nonsense", f"{OLD}:" + "9" * 5000],
)
def test_an_id_that_is_not_of_this_run_gets_a_snapshot(runs, open_stream, last_event_id):
    make_run(runs, OLD, num_steps=5)
    assert open_stream(OLD, **{"Last-Event-ID": last_event_id}).next()[0] == "snapshot"


def test_who_is_too_far_behind_gets_a_snapshot(runs, open_stream, monkeypatch):
    monkeypatch.setattr(feed, "MAX_BEHIND", 3)
    make_run(runs, OLD, num_steps=5)
    assert open_stream(OLD, **{"Last-Event-ID": f"{OLD}:1:0"}).next()[0] == "snapshot"


def test_without_a_name_the_stream_follows_the_newest_run(runs, open_stream):
    stream = open_stream()
    assert stream.next() == ("empty", None, {})
    make_run(runs, OLD, num_steps=1)
    until(lambda: (data := stream.next())[0] == "snapshot" and data[2]["run"] == OLD)
    make_run(runs, NEW)
    until(lambda: (data := stream.next())[0] == "snapshot" and data[2]["run"] == NEW)


def test_a_run_that_is_missing_is_named_and_shown_once_it_is_there(runs, open_stream):
    stream = open_stream(OLD)
    assert stream.next() == ("missing", None, {"run": OLD})
    directory = make_run(runs, OLD)
    assert stream.next()[0] == "snapshot"
    shutil.rmtree(directory)
    until(lambda: stream.next()[0] == "missing")


def test_a_damaged_run_is_missing_and_does_not_hurt_the_others(runs, open_stream):
    make_run(runs, OLD)
    (make_run(runs, NEW) / "metrics.bin").write_bytes(b"holiday photograph " * 9)
    assert open_stream(NEW).next()[0] == "missing"
    assert open_stream(OLD).next()[0] == "snapshot"


def test_names_that_lead_elsewhere_are_refused(served):
    for name in ("..%2F..%2Fetc", "%2Fetc%2Fpasswd", OLD + "%00", "..", "C:%5CWindows"):
        for path in ("/live/stream", "/live/metrics.csv"):
            answer, body = get(served.port, f"{path}?run={name}")
            assert answer.status == 400, (path, name)
            assert b"is not the name of a run" in body, (path, name)


def test_more_viewers_than_the_limit_are_sent_away_until_one_leaves(runs, served, open_stream):
    make_run(runs, OLD)
    streams = [open_stream(OLD) for _viewer in range(3)]
    for stream in streams:
        stream.next()
    answer, body = get(served.port, f"/live/stream?run={OLD}")
    assert answer.status == 503
    assert body == b"This server has 3 live viewers, the most it carries; try later."
    streams[0].close()
    until(lambda: served.live.hub.num_viewers == 2)
    assert open_stream(OLD).next()[0] == "snapshot"


def test_the_poller_rests_when_nobody_watches(runs, served, open_stream):
    make_run(runs, OLD)
    for _visit in range(2):
        stream = open_stream(OLD)
        assert stream.next()[0] == "snapshot"
        assert served.live.hub.polling
        stream.close()
        until(lambda: not served.live.hub.polling)
    assert served.live.hub.num_viewers == 0


def test_silence_is_broken_by_comments(runs, open_stream, monkeypatch):
    monkeypatch.setattr(hub, "HEARTBEAT_SECONDS", 0.05)
    stream = open_stream()
    stream.next()
    assert stream.answer.readline() == b": still here\n"


def test_a_poller_that_broke_is_started_again(runs, open_stream, monkeypatch, caplog):
    monkeypatch.setattr(hub, "HEARTBEAT_SECONDS", 0.05)
    make_run(runs, OLD)
    look, broken = hub.Hub._look, []

    def break_once(self, wanted, feeds):
        if not broken:
            broken.append(1)
            raise RuntimeError("the first look fails")
        return look(self, wanted, feeds)

    monkeypatch.setattr(hub.Hub, "_look", break_once)
    assert open_stream(OLD).next()[0] == "snapshot"


def test_a_forged_host_is_refused(served):
    answer, body = get(served.port, "/live/stream?run=", Host="evil.example")
    assert (answer.status, body) == (400, b"Invalid host header")


def test_streams_end_at_once_when_the_server_stops_and_new_ones_are_refused(
    runs, served, open_stream
):
    make_run(runs, OLD)
    streams = [open_stream(OLD), open_stream()]
    for stream in streams:
        stream.next()
    served.stop_streams()
    for stream in streams:
        until(lambda stream=stream: stream.next() is None)
    assert get(served.port, "/live/stream")[0].status == 503


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_signal_that_stops_the_server_ends_the_streams_and_reaches_the_server(runs, number):
    make_run(runs, OLD)
    received = []
    before = signal.signal(number, lambda number, _frame: received.append(number))

    async def watch():
        live = LiveStream(lambda: runs)
        put_back = install_stop_signal(live)
        kinds = []
        with live.hub.watching(OLD):
            async for message in live.hub.messages(OLD, ""):
                kinds.append(message.split(b"\n")[0])
                if len(kinds) == 2:
                    os.kill(os.getpid(), number)
        put_back()
        return kinds

    try:
        kinds = asyncio.run(asyncio.wait_for(watch(), PATIENCE))
    finally:
        signal.signal(number, before)
    assert kinds == [b"retry: 2000", b"event: snapshot"]
    assert received == [number]


def test_outside_the_main_thread_signals_are_left_alone():
    before = signal.getsignal(signal.SIGTERM)
    put_back = []
    thread = threading.Thread(target=lambda: put_back.append(install_stop_signal()))
    thread.start()
    thread.join()
    put_back[0]()
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_metrics_of_a_run_come_as_a_csv_download(runs, served):
    make_run(runs, OLD, num_steps=3)
    answer, body = get(served.port, f"/live/metrics.csv?run={OLD}")
    assert answer.status == 200
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{OLD}.csv"'
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(body.decode())))
    assert [row["step"] for row in rows] == ["1", "2", "3"]
    assert float(rows[2]["loss"]) == 1.0 / 3


def test_a_csv_of_a_run_that_is_missing_or_damaged_is_a_sentence(runs, served):
    answer, body = get(served.port, f"/live/metrics.csv?run={OLD}")
    assert answer.status == 404
    assert b"There is no run" in body
    (make_run(runs, NEW) / "run.json").write_text("{")
    answer, body = get(served.port, f"/live/metrics.csv?run={NEW}")
    assert answer.status == 400
    assert b"cannot be read" in body


def test_plotly_comes_gzipped_and_may_be_kept_for_ever(served):
    answer, body = get(served.port, plotly_url(), **{"Accept-Encoding": "gzip, br"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert gzip.decompress(body) == plotly_path().read_bytes()
    assert len(body) < 1.6e6


def test_plotly_of_another_version_or_for_a_plain_client_is_still_served(served):
    answer, body = get(served.port, "/live/assets/plotly.min.js?v=1.0")
    assert answer.headers["Cache-Control"] == "no-cache"
    assert "Content-Encoding" not in answer.headers
    assert body == plotly_path().read_bytes()


def test_head_requests_do_not_wait_for_a_stream_to_end(served):
    answer, body = get(served.port, "/live/stream", method="HEAD")
    assert (answer.status, body) == (200, b"")
    assert get(served.port, "/live/stream", method="POST")[0].status == 405


def test_the_stream_needs_neither_plotly_nor_torch_nor_streamlit(root):
    code = """
import sys
from pages.components.live_chart.stream import routes
from pages.components.live_chart.assets import plotly_javascript
assert b"plotly" in plotly_javascript(compressed=False)[:500]
print(sorted({"plotly", "torch", "streamlit", "pandas"} & set(sys.modules)))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_server_gets_three_routes():
    paths = [route.path for route in routes()]
    assert paths == ["/live/stream", "/live/metrics.csv", "/live/assets/plotly.min.js"]
