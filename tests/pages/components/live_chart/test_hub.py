import asyncio
import os
import shutil
import signal
import subprocess
import sys

import pytest

from pages.components.live_chart import hub
from pages.components.live_chart.stream import LiveStream, install_stop_signal

OLD, NEW = "20260101t000000z-old-0001", "20260102t000000z-new-0002"
PATIENCE = 10


def test_without_a_name_the_stream_follows_the_newest_run(runs, open_stream, until, make_run):
    stream = open_stream()
    assert stream.next() == ("empty", None, {})
    make_run(runs, OLD, num_steps=1)
    until(lambda: (data := stream.next())[0] == "snapshot" and data[2]["run"] == OLD)
    make_run(runs, NEW)
    until(lambda: (data := stream.next())[0] == "snapshot" and data[2]["run"] == NEW)


def test_a_run_that_is_missing_is_named_and_shown_once_it_is_there(
    runs, open_stream, until, make_run
):
    stream = open_stream(OLD)
    assert stream.next() == ("missing", None, {"run": OLD})
    directory = make_run(runs, OLD)
    assert stream.next()[0] == "snapshot"
    shutil.rmtree(directory)
    until(lambda: stream.next()[0] == "missing")


def test_a_damaged_run_is_missing_and_does_not_hurt_the_others(runs, open_stream, make_run):
    make_run(runs, OLD)
    (make_run(runs, NEW) / "metrics.bin").write_bytes(b"holiday photograph " * 9)
    assert open_stream(NEW).next()[0] == "missing"
    assert open_stream(OLD).next()[0] == "snapshot"


def test_the_poller_rests_when_nobody_watches(runs, served, open_stream, until, make_run):
    make_run(runs, OLD)
    for _visit in range(2):
        stream = open_stream(OLD)
        assert stream.next()[0] == "snapshot"
        assert served.live.hub.polling
        stream.close()
        until(lambda: not served.live.hub.polling)
    assert served.live.hub._viewers.total() == 0


def test_silence_is_broken_by_comments(runs, open_stream, monkeypatch):
    monkeypatch.setattr(hub, "HEARTBEAT_SECONDS", 0.05)
    stream = open_stream()
    stream.next()
    assert stream.answer.readline() == b": still here\n"


def test_a_poller_that_broke_is_started_again(runs, open_stream, monkeypatch, make_run):
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


def test_streams_end_at_once_when_the_server_stops_and_new_ones_are_refused(
    runs, served, open_stream, until, get, make_run
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
def test_the_signal_that_stops_the_server_ends_the_streams_and_reaches_the_server(
    runs, number, make_run
):
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


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_signal_that_nobody_else_handles_still_ends_the_process(root):
    code = """
import asyncio, os, signal, sys
from pages.components.live_chart.stream import install_stop_signal
async def main():
    install_stop_signal()
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=False, timeout=30)
    assert done.returncode == -signal.SIGTERM
