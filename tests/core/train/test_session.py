import math
import time

import pytest

from core.train.control import send
from core.train.disk import RunStorageError
from core.train.lock import hold_worker_lock
from core.train.reader import RunReader
from core.train.resume import make_session
from core.train.state import read_state
from core.train.store import RunStore


@pytest.fixture
def make_session_of(prepared_run):
    """Return make(**changes): (session, directory); the store is closed at the end."""
    stores = []

    def make(attempt=1, directory=None, **changes):
        directory = directory or prepared_run(**changes)
        from core.train.config import TrainConfig
        from core.train.info import read_info

        stores.append(RunStore(directory, attempt))
        config = TrainConfig.from_json({**read_info(directory)["config"], "precision": "fp32"})
        return make_session(config, stores[-1], "cpu"), directory

    yield make
    for store in stores:
        store.close()


def events_of(directory, kind):
    return [event for event in RunReader(directory).read_new().events if event["kind"] == kind]


def each_step(session, action):
    """Call action(step) after every step of the session."""
    step = session.observer.step

    def stepping():
        results = step()
        for result in results:
            action(result.step)
        return results

    session.observer.step = stepping


def test_a_run_writes_every_step_and_what_is_due(make_session_of):
    session, directory = make_session_of()
    assert session.run() == "finished"
    records = RunReader(directory).read_new().records
    assert records["step"].tolist() == list(range(1, 13))
    assert all(records["resident_bytes"] > 50 << 20)
    assert [event["step"] for event in events_of(directory, "eval")] == [0, 5, 10, 12]
    assert [event["step"] for event in events_of(directory, "sample")] == [0, 6, 12]
    assert [event["step"] for event in events_of(directory, "memory")] == [1, 5, 10]
    assert [event["step"] for event in events_of(directory, "checkpoint")] == [4, 8, 12]
    states = [event["state"] for event in events_of(directory, "state")]
    assert states == ["running", "stopping", "finished"]
    assert read_state(directory).state == "finished"


def test_a_paused_run_takes_one_step_at_a_time(make_session_of):
    session, directory = make_session_of()
    for op in ("pause", "step", "step", "stop"):
        send(directory, op)
    # the inbox hands out all four at once: the steps are still owed when the stop arrives
    assert session.run() == "stopped"
    acks = events_of(directory, "ack")
    assert [ack["op"] for ack in acks] == ["pause", "step", "step", "stop"]
    assert all(ack["accepted"] for ack in acks)


def test_one_step_pauses_a_running_run_behind_it(make_session_of, monkeypatch):
    session, directory = make_session_of()
    send(directory, "step")
    looks = iter(range(3))

    def stop_later(_seconds):
        if next(looks) == 2:
            send(directory, "stop")

    monkeypatch.setattr(time, "sleep", stop_later)
    session.run()
    assert RunReader(directory).read_new().records["step"].tolist() == [1]


def test_a_new_multiplier_is_marked_at_the_first_step_that_uses_it(make_session_of):
    session, directory = make_session_of(learning_rate=1e-3, min_learning_rate=1e-3, warmup_steps=0)
    each_step(
        session,
        lambda step: step == 4 and send(directory, "set_learning_rate_multiplier", 0.5),
    )
    session.run()
    (ack,) = events_of(directory, "ack")
    rates = {row["step"]: row["learning_rate"] for row in RunReader(directory).read_new().records}
    assert ack["step"] == 5
    assert rates[4] == pytest.approx(1e-3)
    assert rates[5] == pytest.approx(5e-4)


def test_the_governor_slows_the_run_and_lets_it_go_again(make_session_of):
    session, directory = make_session_of(num_steps=8, max_steps_per_second=20.0)
    each_step(session, lambda step: step == 4 and send(directory, "set_max_steps_per_second", None))
    session.run()
    times = RunReader(directory).read_new().records["time"]
    assert times[3] - times[0] >= 3 / 20 * 0.9
    assert session.max_steps_per_second is None


def test_a_command_that_cannot_be_understood_is_refused_and_harms_nothing(make_session_of):
    session, directory = make_session_of()
    folder = directory / "control"
    folder.mkdir()
    (folder / "000001.json").write_text('{"op": "rm -rf", "value": 1}')
    (folder / "000002.json").write_text("half a comma")
    assert session.run() == "finished"
    acks = events_of(directory, "ack")
    assert [ack["accepted"] for ack in acks] == [False, False]
    assert "is not a command to a run" in acks[0]["reason"]


def test_the_first_number_that_is_not_finite_pauses_the_run(make_session_of, monkeypatch):
    session, directory = make_session_of()
    weight = session.trainer.model.blocks[0].attention.qkv.weight

    def poison(gradient):
        return gradient * math.nan if session.trainer.step == 4 else gradient

    weight.register_hook(poison)
    seen = []

    def look_then_resume(_seconds):
        seen.append(read_state(directory))
        send(directory, "resume")

    monkeypatch.setattr(time, "sleep", look_then_resume)
    with hold_worker_lock(directory):
        assert session.run() == "finished"
    assert (seen[0].state, seen[0].reason, seen[0].step) == ("paused", "non_finite", 5)
    (finding,) = events_of(directory, "finding")
    assert (finding["finding"], finding["step"]) == ("non_finite", 5)
    assert finding["tensor"]
    records = RunReader(directory).read_new().records
    assert records["flags"].tolist() == [0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]
    assert read_state(directory).reason == ""


def test_a_checkpoint_that_cannot_be_written_costs_no_step(make_session_of, monkeypatch):
    session, directory = make_session_of()

    def refuse(*_arguments):
        raise RunStorageError(28, "Cannot write the checkpoint")

    monkeypatch.setattr("core.train.observer.save_checkpoint", refuse)
    assert session.run() == "finished"
    assert len(RunReader(directory).read_new().records) == 12
    assert {f["finding"] for f in events_of(directory, "finding")} == {"checkpoint_failed"}
    assert read_state(directory).reason == "disk"


def test_a_resumed_run_goes_on_with_the_same_losses(make_session_of):
    straight, other = make_session_of()
    straight.run()
    session, directory = make_session_of()
    each_step(session, lambda step: step == 7 and send(directory, "stop"))
    assert session.run() == "stopped"
    session.store.close()
    again, _directory = make_session_of(attempt=2, directory=directory)
    assert again.trainer.step == 7
    assert again.run() == "finished"
    expected = RunReader(other).read_new().records["loss"].tolist()
    records = RunReader(directory).read_new().records
    assert records["loss"].tolist() == expected
    assert records["attempt"].tolist() == [1] * 7 + [2] * 5
    assert [event["step"] for event in events_of(directory, "sample")] == [0, 6, 12]


def test_a_damaged_checkpoint_sends_the_run_back_to_the_one_before(make_session_of):
    session, directory = make_session_of()
    session.run()
    session.store.close()
    (directory / "ckpt" / "step-00000012.pt").write_bytes(b"damaged")
    again, _directory = make_session_of(attempt=2, directory=directory)
    assert again.trainer.step == 8
    (finding,) = events_of(directory, "finding")
    assert finding["finding"] == "damaged_checkpoint"
