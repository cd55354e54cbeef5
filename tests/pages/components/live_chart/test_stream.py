"""The routes: a run live, replayed, as CSV; who is refused."""

import csv
import io
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.train.run.state import RunState, write_state
from pages.components.live_chart import stream
from pages.server.shares import Shares

OLD, NEW = "20260101t000000z-old-0001", "20260102t000000z-new-0002"


def test_names_that_lead_elsewhere_are_refused(served, get):
    for name in ("..%2F..%2Fetc", "%2Fetc%2Fpasswd", OLD + "%00", "..", "C:%5CWindows"):
        for path in ("/live/stream", "/live/metrics.csv"):
            answer, body = get(served.port, f"{path}?run={name}")
            assert answer.status == 400, (path, name)
            assert b"is not the name of a run" in body, (path, name)


def test_more_viewers_than_the_limit_are_sent_away_until_one_leaves(
    runs, served, open_stream, until, get, make_run
):
    make_run(runs, OLD)
    streams = [open_stream(OLD) for _viewer in range(3)]
    for each in streams:
        each.next()
    answer, body = get(served.port, f"/live/stream?run={OLD}")
    assert answer.status == 503
    assert body == b"All 3 places are taken: try again later."
    streams[0].close()
    until(lambda: served.live.hub._viewers.total() == 2)
    assert open_stream(OLD).next()[0] == "snapshot"


def test_the_metrics_of_a_run_come_as_a_csv_download(runs, served, get, make_run):
    make_run(runs, OLD, num_steps=3)
    answer, body = get(served.port, f"/live/metrics.csv?run={OLD}")
    assert answer.status == 200
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{OLD}.csv"'
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(body.decode())))
    assert [row["step"] for row in rows] == ["1", "2", "3"]
    assert float(rows[2]["loss"]) == 1.0 / 3


def test_a_run_that_is_missing_or_damaged_is_a_sentence_that_tells_no_path(
    runs, served, get, make_run
):
    (make_run(runs, NEW) / "run.json").write_text("{")
    for path in ("metrics.csv?", "run.html?", "stream?speed=5&"):
        for run, status, words in ((OLD, 404, "There is no run"), (NEW, 400, "cannot be read")):
            answer, body = get(served.port, f"/live/{path}run={run}")
            assert (answer.status, words in body.decode()) == (status, True), (path, body)
            assert str(runs.parent) not in body.decode(), path


def test_head_requests_do_not_wait_for_a_stream_to_end(served, get):
    answer, body = get(served.port, "/live/stream", method="HEAD")
    assert (answer.status, body) == (200, b"")
    assert get(served.port, "/live/stream", method="POST")[0].status == 405


NUM_STEPS = 40


@pytest.fixture
def finished(runs, make_run, monkeypatch):
    """A run of 40 steps that has ended."""
    monkeypatch.setattr(stream, "LOOK_SECONDS", 0.02)
    directory = make_run(runs, OLD, num_steps=NUM_STEPS)
    write_state(directory, RunState(state="finished", step=NUM_STEPS, pid=1))
    return directory


@pytest.mark.slow
def test_a_replay_sends_every_step_once_and_ends_with_the_last_state(finished, open_stream):
    opened = open_stream(f"{OLD}&speed=60")
    steps, state = [], None
    while state is None or state["state"] != "finished":
        kind, _identity, data = opened.next()
        assert kind == ("update" if steps or state else "snapshot")
        steps += data["columns"]["step"]
        state = data["state"]
        assert not steps or state["step"] <= steps[-1]  # the state is read first
    assert steps == list(range(1, NUM_STEPS + 1))


def test_two_viewers_have_clocks_of_their_own(finished, served, open_stream, until):
    slow, fast = open_stream(f"{OLD}&speed=1"), open_stream(f"{OLD}&speed=60")
    assert slow.next()[2]["columns"]["step"][:1] == fast.next()[2]["columns"]["step"][:1]
    assert served.live.replays._held[""] == 2
    assert served.live.hub._viewers.total() == 0, "the poller has nothing to do with it"
    fast.close()
    until(lambda: served.live.replays._held[""] == 1)


@pytest.mark.slow
@pytest.mark.parametrize("speed", ["0.5", "61", "nan", "fast", "-1", "1e400"])
def test_a_speed_out_of_range_is_refused(finished, served, get, speed):
    answer, body = get(served.port, f"/live/stream?run={OLD}&speed={speed}")
    assert answer.status == 400
    assert b"choose a number from 1 to 60" in body


def test_a_run_that_has_not_ended_a_missing_one_and_a_bad_name_are_refused(
    runs, served, get, make_run
):
    make_run(runs, OLD)
    write_state(runs / OLD, RunState(state="starting", time=4e9))
    for name, status in ((OLD[:-1] + "2", 404), ("..%2F..%2Fetc", 400), ("", 400)):
        assert get(served.port, f"/live/stream?run={name}&speed=10")[0].status == status, name


def test_more_replays_than_the_limit_are_sent_away(finished, served, open_stream, get, monkeypatch):
    monkeypatch.setattr(served.live, "replays", Shares(1, of_browser=1, reserve=0))
    open_stream(f"{OLD}&speed=1").next()
    answer, body = get(served.port, f"/live/stream?run={OLD}&speed=1")
    assert (answer.status, body) == (503, b"All 1 places are taken: try again later.")


def test_many_who_ask_for_one_file_have_it_made_once_and_again_when_the_run_goes_on(
    finished, served, get, until, monkeypatch
):
    made, gate = [], threading.Event()

    def slow(directory, **_chosen):
        made.append(threading.current_thread().name)
        gate.wait(10)
        return f"file {len(made)}"

    monkeypatch.setattr(stream, "player_html", slow)
    address = f"/live/run.html?run={OLD}"
    with ThreadPoolExecutor(8) as readers:
        asked = [readers.submit(get, served.port, address) for _reader in range(8)]
        until(lambda: served.live.exporting._held[""] == 8)
        gate.set()
        answers = [each.result() for each in asked]
    assert {(answer.status, body) for answer, body in answers} == {(200, b"file 1")}
    assert get(served.port, f"{address}&lang=zh")[1] == b"file 2"
    assert get(served.port, f"{address}&lang=unknown")[1] == b"file 1", "read as English"
    write_state(finished, RunState(state="finished", step=NUM_STEPS + 1, pid=1))
    assert get(served.port, address)[1] == b"file 3"
    assert len(set(made)) == 1, "one thread makes all files"
    until(lambda: served.live.exporting._held[""] == 0)
