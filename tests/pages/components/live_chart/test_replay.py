"""A finished run over the stream again, as if it were live."""

import pytest

from core.train.run.state import RunState, write_state
from pages.components.live_chart import replay
from pages.components.live_chart.replay import Replays

OLD = "20260101t000000z-old-0001"
NUM_STEPS = 40


@pytest.fixture
def finished(runs, make_run, monkeypatch):
    """A run of 40 steps that has ended."""
    monkeypatch.setattr(replay, "LOOK_SECONDS", 0.02)
    directory = make_run(runs, OLD, num_steps=NUM_STEPS)
    write_state(directory, RunState(state="finished", step=NUM_STEPS, pid=1))
    return directory


def test_a_replay_sends_every_step_once_and_ends_with_the_last_state(finished, open_stream):
    stream = open_stream(f"{OLD}&speed=60")
    steps, state = [], None
    while state is None or state["state"] != "finished":
        kind, _identity, data = stream.next()
        assert kind == ("update" if steps or state else "snapshot")
        steps += data["columns"]["step"]
        state = data["state"]
        assert not steps or state["step"] <= steps[-1]  # the state is read first
    assert steps == list(range(1, NUM_STEPS + 1))


def test_two_viewers_have_clocks_of_their_own(finished, served, open_stream, until):
    slow, fast = open_stream(f"{OLD}&speed=1"), open_stream(f"{OLD}&speed=60")
    assert slow.next()[2]["columns"]["step"][:1] == fast.next()[2]["columns"]["step"][:1]
    assert served.live.replays.num_open == 2
    assert served.live.hub.num_viewers == 0, "the poller has nothing to do with it"
    fast.close()
    until(lambda: served.live.replays.num_open == 1)


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


def test_more_replays_than_the_limit_are_sent_away(finished, served, open_stream, get):
    served.live.replays = Replays(lambda: served.live.hub.stopped, max_replays=1)
    open_stream(f"{OLD}&speed=1").next()
    answer, body = get(served.port, f"/live/stream?run={OLD}&speed=1")
    assert (answer.status, body) == (503, b"Too many replays run on this server; try later.")
