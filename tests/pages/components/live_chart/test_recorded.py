"""A recorded run over the stream, until there is a run."""

import csv
import io
import json

import pytest

from core.train.run.reader import RunReader
from core.train.run.recorded import recorded_run
from core.train.run.replay import MAX_SPEED, Replay
from core.train.start.presets import DURATIONS
from pages.components.live_chart import stream as stream_room
from pages.components.live_chart.feed import (
    LOOK_SECONDS,
    SHOWN_SECONDS,
    recorded_messages,
    recorded_speed,
)

NEW = "20260102t000000z-new-0002"


def parts(message):
    kind, _identity, data = message.decode().strip().split("\n")
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


@pytest.mark.parametrize("preset", [duration.key for duration in DURATIONS])
def test_the_messages_together_are_the_run_and_take_its_time_divided_by_the_speed(preset):
    messages = [parts(message) for message in recorded_messages(preset)]
    reader = RunReader(recorded_run(preset))
    whole, state = reader.read_new(), reader.read_state()
    assert [kind for kind, _data in messages] == ["snapshot"] + ["update"] * (len(messages) - 1)
    steps = [step for _kind, data in messages for step in data["columns"]["step"]]
    assert steps == whole.records["step"].tolist()
    losses = [loss for _kind, data in messages for loss in data["columns"]["loss"]]
    assert losses == whole.records["loss"].tolist()
    assert messages[0][1]["info"] == reader.info
    assert messages[-1][1]["state"]["state"] == state.state
    seconds = Replay(whole.records, whole.events, state).seconds
    assert len(messages) * LOOK_SECONDS <= seconds / recorded_speed(preset) + 1


def test_a_longer_recording_is_shown_faster_but_no_faster_than_a_replay_may_be():
    for duration in DURATIONS:
        fitting = round(duration.seconds / SHOWN_SECONDS)
        assert recorded_speed(duration.key) == pytest.approx(min(fitting, MAX_SPEED), abs=1)


def test_a_viewer_without_a_run_sees_the_recording_and_then_the_first_run(
    runs, served, open_stream, monkeypatch, make_run
):
    monkeypatch.setattr(stream_room, "LOOK_SECONDS", 0.02)
    viewer = open_stream("&recording=one_minute")
    kind, _identity, data = viewer.next()
    assert (kind, data["run"]) == ("snapshot", recorded_run("one_minute").name)
    assert data["info"]["recorded"]["cores"] > 0
    assert viewer.next()[0] == "update"
    make_run(runs, NEW)
    while data["run"] != NEW:
        kind, _identity, data = viewer.next()
    assert kind == "snapshot"
    assert "recorded" not in data["info"]


@pytest.mark.parametrize("name", ["..%2Fsmall_gpt", "A", "one_minute.zip"])
def test_a_recording_of_an_impossible_name_is_refused(served, get, name):
    for path in ("/live/stream", "/live/metrics.csv"):
        answer, body = get(served.port, f"{path}?recording={name}")
        assert answer.status == 400, path
        assert b"is not the name of a preset" in body


def test_the_steps_of_a_recording_come_as_csv(served, get):
    answer, body = get(served.port, "/live/metrics.csv?recording=one_minute")
    assert answer.status == 200
    rows = list(csv.DictReader(io.StringIO(body.decode())))
    records = RunReader(recorded_run("one_minute")).read_new().records
    assert [float(row["loss"]) for row in rows] == records["loss"].tolist()


def test_a_recording_comes_as_one_html_file(served, get):
    answer, body = get(served.port, "/live/run.html?recording=one_minute&lang=zh&units=GB")
    assert answer.status == 200
    assert answer.headers["Content-Disposition"].endswith('.html"')
    assert b'"language":"zh","unit":"GB"' in body
