import errno
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from core.train.config import TrainConfig
from core.train.control.commands import send
from core.train.learning.schedule import milestone_steps
from core.train.learning.trainer import Trainer
from core.train.run.directory import (
    SNAPSHOT_FILE,
    best_checkpoint,
    checkpoint_step,
    checkpoints,
    milestone_path,
    milestones,
    read_info,
)
from core.train.run.disk import RunStorageError, storage_error
from core.train.run.reader import RunReader
from core.train.run.records import newest
from core.train.run.state import hold_worker_lock, read_state, state_sentence
from core.train.run.store import RunStore
from core.train.worker import checkpoint, observer
from core.train.worker.memory_snapshot import MAX_EVENTS
from core.train.worker.session import open_session

CONSTANT_RATE = {"learning_rate": 1e-3, "min_learning_rate": 1e-3, "warmup_steps": 0}
NOTHING_DUE = {f"{what}_interval": 50 for what in ("eval", "sample", "memory", "checkpoint")}


@pytest.fixture
def session_of(prepared_run):
    """Return make(**changes): (session, directory); the store is closed at the end."""
    stores = []

    def make(attempt=1, directory=None, precision="fp32", **changes):
        directory = directory or prepared_run(**changes)
        stores.append(RunStore(directory, attempt))
        config = TrainConfig.from_json({**read_info(directory)["config"], "precision": precision})
        return open_session(config, stores[-1], torch.device("cpu")), directory

    yield make
    for store in stores:
        store.close()


def records_of(directory):
    return RunReader(directory).read_new().records


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


def send_after(session, directory, step, op, value=None):
    """Send a command when the session has done the step."""
    each_step(session, lambda done: done == step and send(directory, op, value))


def test_a_run_writes_every_step_and_what_is_due(session_of):
    session, directory = session_of()
    assert session.run() == "finished"
    records = records_of(directory)
    assert records["step"].tolist() == list(range(1, 13))
    assert all(records["resident_bytes"] > 50 << 20)
    assert [event["step"] for event in events_of(directory, "eval")] == [0, 5, 10, 12]
    assert [event["step"] for event in events_of(directory, "sample")] == [0, 6, 12]
    assert [event["step"] for event in events_of(directory, "memory")] == [1, 5, 10]
    assert [event["step"] for event in events_of(directory, "checkpoint")] == [4, 8, 12]
    states = [event["state"] for event in events_of(directory, "state")]
    assert states == ["running", "stopping", "finished"]
    assert read_state(directory).state == "finished"


@pytest.fixture
def gpu(monkeypatch):
    """Return the calls to torch's recorder; it writes a file as the allocator of a GPU would."""
    calls = []
    memory = torch.cuda.memory
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(memory, "_record_memory_history", lambda **asked: calls.append(asked))
    monkeypatch.setattr(memory, "_dump_snapshot", lambda path: Path(path).write_bytes(b"snapshot"))
    return calls


@pytest.mark.parametrize("state", ["running", "paused"])
def test_a_memory_snapshot_is_of_the_next_step_alone(session_of, gpu, state):
    session, directory = session_of(num_steps=6, **NOTHING_DUE)
    each_step(session, gpu.append)
    session._change(state)
    session.trainer.train_step()
    send(directory, "snapshot")
    session._obey()
    assert gpu == [{"max_entries": MAX_EVENTS}, 2, {"enabled": None}]
    assert (directory / SNAPSHOT_FILE).read_bytes() == b"snapshot"
    assert [each.name for each in directory.glob("*.part")] == []
    (ack,) = events_of(directory, "ack")
    assert (ack["op"], ack["accepted"], ack["step"]) == ("snapshot", True, 2)
    assert session.state == state
    session._change("running")
    assert session.run() == "finished"
    assert records_of(directory)["step"].tolist() == [2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("why", "reason"), [("a CPU", "CUDA"), ("the end", "no next step"), ("the disk", "No space")]
)
def test_a_snapshot_that_cannot_be_is_refused_and_the_run_goes_on(
    session_of, gpu, why, reason, monkeypatch
):
    session, directory = session_of(num_steps=3, **NOTHING_DUE)
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: why != "a CPU")
    if why == "the disk":

        def fills(path):
            Path(path).write_bytes(b"snap")
            raise full

        monkeypatch.setattr(torch.cuda.memory, "_dump_snapshot", fills)
    if why == "the end":
        session.run()
    send(directory, "snapshot")
    session._obey()
    (ack,) = events_of(directory, "ack")
    assert ack["accepted"] is False
    assert reason in ack["reason"]
    assert list(directory.glob("memory-snapshot.*")) == []
    assert gpu == ([{"max_entries": MAX_EVENTS}, {"enabled": None}] if why == "the disk" else [])
    if why != "the end":
        assert session.run() == "finished"


def test_a_memory_event_of_a_cpu_holds_what_was_watched_and_no_word_of_a_gpu(session_of):
    session, directory = session_of()
    session.run()
    of_every_event = ("seq", "time", "step", "attempt", "kind")
    watched = ("weights", "gradients", "optimizer", "activations", "other", "peak", "source")
    for event in events_of(directory, "memory"):
        assert tuple(event) == (*of_every_event, *watched, "resident_bytes")
        assert event["source"] == "tensors"


def test_what_the_gpu_tells_stands_behind_what_was_watched(session_of, monkeypatch):
    told, asked = {"reserved_bytes": 8 << 30, "utilization": 0.5}, []
    monkeypatch.setattr(observer, "watch_gpu", lambda device: asked.append(device) or told)
    session, directory = session_of()
    session.run()
    events = events_of(directory, "memory")
    assert [list(event.items())[-2:] for event in events] == [list(told.items())] * 3
    assert asked == [session.trainer.device] * 3, "once for each event, never for a step"


def test_a_paused_run_takes_one_step_at_a_time(session_of):
    session, directory = session_of()
    for op in ("pause", "step", "step", "stop"):
        send(directory, op)
    # the inbox hands out all four at once: the steps are still owed when the stop arrives
    assert session.run() == "stopped"
    acks = events_of(directory, "ack")
    assert [ack["op"] for ack in acks] == ["pause", "step", "step", "stop"]
    assert all(ack["accepted"] for ack in acks)


def test_one_step_pauses_a_running_run_behind_it(session_of, sleep_instead):
    session, directory = session_of()
    send(directory, "step")
    looks = iter(range(3))

    def stop_later(_seconds):
        if next(looks) == 2:
            send(directory, "stop")

    sleep_instead(stop_later)
    session.run()
    assert records_of(directory)["step"].tolist() == [1]


def test_a_new_multiplier_is_marked_at_the_first_step_that_uses_it(session_of):
    session, directory = session_of(**CONSTANT_RATE)
    send_after(session, directory, 4, "set_learning_rate_multiplier", 0.5)
    session.run()
    (ack,) = events_of(directory, "ack")
    rates = {row["step"]: row["learning_rate"] for row in records_of(directory)}
    assert ack["step"] == 5
    assert rates[4] == pytest.approx(1e-3)
    assert rates[5] == pytest.approx(5e-4)


def test_the_governor_slows_the_run_and_lets_it_go_again(session_of, monkeypatch):
    session, directory = session_of(num_steps=8, max_steps_per_second=20.0)
    slept, began = [0.0], []
    clock = SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append)
    monkeypatch.setattr("core.train.worker.session.time", clock)  # only waiting takes time

    def note(step):
        began.append(clock.monotonic())
        if step == 4:
            send(directory, "set_max_steps_per_second", None)

    each_step(session, note)
    session.run()
    assert np.diff(began).tolist() == pytest.approx([1 / 20] * 3 + [0] * 4)
    assert session.max_steps_per_second is None


def timed(session, monkeypatch, seconds_per_step):
    """Let only steps and waiting take time; return the clock."""
    past = [0.0]
    clock = SimpleNamespace(monotonic=lambda: sum(past), sleep=past.append)
    monkeypatch.setattr("core.train.worker.session.time", clock)
    each_step(session, lambda _step: past.append(seconds_per_step))
    return clock


def test_a_time_limit_ends_a_run_on_a_slow_machine_with_all_that_an_end_needs(
    session_of, monkeypatch
):
    session, directory = session_of(num_steps=1000, max_seconds=60.0, **NOTHING_DUE)
    timed(session, monkeypatch, 7.0)
    assert session.run() == "finished"
    records, state = records_of(directory), read_state(directory)
    assert records["step"].tolist() == list(range(1, 10))  # the ninth ends at 63 s
    assert (state.step, state.trained_seconds) == (9, 63.0)
    assert state.reason == "time_is_up"
    assert "60" in state_sentence(state)
    assert "1000" in state_sentence(state)
    assert [event["step"] for event in events_of(directory, "eval")] == [0, 9]
    assert [event["step"] for event in events_of(directory, "sample")] == [0, 9]
    assert [event["step"] for event in events_of(directory, "checkpoint")] == [9]
    lowest, highest = session.trainer.config.min_learning_rate, records["learning_rate"].max()
    assert records["learning_rate"][-1] - lowest < 0.05 * (highest - lowest)


def test_neither_a_pause_nor_the_governor_uses_up_the_time(session_of, monkeypatch):
    session, directory = session_of(max_seconds=60.0, max_steps_per_second=0.1)
    clock = timed(session, monkeypatch, 4.0)

    send_after(session, directory, 3, "pause")
    waits, wait = [], clock.sleep

    def sleep(seconds):
        waits.append(seconds)
        wait(seconds)
        if session.state == "paused" and len(waits) % 5000 == 0:
            send(directory, "resume")

    clock.sleep = sleep
    assert session.run() == "finished"
    assert read_state(directory).step == 12
    assert session.trainer.trained_seconds == pytest.approx(12 * 4.0)
    assert sum(waits) > 60


def test_a_resumed_run_has_the_time_that_its_checkpoint_left_it(session_of, monkeypatch):
    changes = {"num_steps": 1000, "max_seconds": 60.0, **NOTHING_DUE}
    first, directory = session_of(**changes)
    timed(first, monkeypatch, 7.0)
    send_after(first, directory, 5, "stop")
    assert first.run() == "stopped"
    second, _directory = session_of(attempt=2, directory=directory)
    assert second.trainer.trained_seconds == 35.0
    timed(second, monkeypatch, 7.0)
    assert second.run() == "finished"
    assert newest(records_of(directory))["step"].tolist() == list(range(1, 10))


def test_a_command_that_cannot_be_understood_is_refused_and_harms_nothing(session_of):
    session, directory = session_of()
    folder = directory / "control"
    folder.mkdir()
    (folder / "000001.json").write_text('{"op": "rm -rf", "value": 1}')
    (folder / "000002.json").write_text("half a comma")
    assert session.run() == "finished"
    acks = events_of(directory, "ack")
    assert [ack["accepted"] for ack in acks] == [False, False]
    assert "is not a command to a run" in acks[0]["reason"]


def test_the_first_number_that_is_not_finite_pauses_the_run(session_of, sleep_instead):
    session, directory = session_of()
    weight = session.trainer.model.blocks[0].attention.qkv.weight

    def poison(gradient):
        return gradient * math.nan if session.trainer.step == 4 else gradient

    weight.register_hook(poison)
    seen = []

    def look_then_resume(_seconds):
        seen.append(read_state(directory))
        send(directory, "resume")

    sleep_instead(look_then_resume)
    with hold_worker_lock(directory):
        assert session.run() == "finished"
    assert (seen[0].state, seen[0].reason, seen[0].step) == ("paused", "non_finite", 5)
    (finding,) = events_of(directory, "finding")
    assert (finding["finding"], finding["step"]) == ("non_finite", 5)
    assert finding["tensor"] == "blocks.0.attention.qkv.weight"
    records = records_of(directory)
    assert records["flags"].tolist() == [0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]
    assert read_state(directory).reason == ""


@pytest.mark.parametrize("interval", [4, 50])
def test_one_command_goes_back_to_the_last_good_checkpoint_with_half_the_rate(
    session_of, sleep_instead, interval
):
    session, directory = session_of(**CONSTANT_RATE, checkpoint_interval=interval)
    trainer, bad = session.trainer, [5]
    weight = trainer.model.blocks[0].attention.qkv.weight
    weight.register_hook(lambda each: each * (math.nan if trainer.step in bad else 1.0))
    seen = []

    def look_then_go_back(_seconds):
        seen.append(read_state(directory))
        bad.clear()
        send(directory, "go_back")

    sleep_instead(look_then_go_back)
    with hold_worker_lock(directory):
        assert session.run() == "finished"
    assert (seen[0].reason, seen[0].step, seen[0].attempt) == ("non_finite", 6, 1)
    records = records_of(directory)
    first = records[records["attempt"] == 1]
    again = records[records["attempt"] == 2]
    start = 4 if interval == 4 else 0
    assert first["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert again["step"].tolist() == list(range(start + 1, 13))
    assert again["learning_rate"] == pytest.approx(5e-4)
    assert again["loss"][0] == first["loss"][start], "the weights are those of that step"
    changes = [ack for ack in events_of(directory, "ack") if ack["value"] == 0.5]
    assert [(ack["op"], ack["step"]) for ack in changes] == [
        ("set_learning_rate_multiplier", start + 1)
    ]
    assert read_state(directory).reason == ""


def test_weights_that_are_not_finite_are_not_saved(session_of):
    session, directory = session_of()
    each_step(session, lambda step: step == 6 and send(directory, "stop"))
    update = session.trainer.optimizer.step

    def spoil():
        update()
        if session.trainer.step == 5:  # the sixth step's update
            with torch.no_grad():
                session.trainer.model.blocks[0].norm_1.weight.fill_(math.inf)

    session.trainer.optimizer.step = spoil
    assert session.run() == "stopped"
    assert [checkpoint_step(path) for path in checkpoints(directory)] == [4]


def test_a_checkpoint_that_cannot_be_written_costs_no_step(session_of, fails):
    session, directory = session_of()
    fails(
        "core.train.worker.observer.save_checkpoint",
        RunStorageError(28, "Cannot write the checkpoint"),
    )
    assert session.run() == "finished"
    assert len(records_of(directory)) == 12
    assert {f["finding"] for f in events_of(directory, "finding")} == {"checkpoint_failed"}
    assert read_state(directory).reason == "disk"


def resumed(session_of, directory, attempt=2):
    return session_of(attempt=attempt, directory=directory)[0]


def test_a_resumed_run_goes_on_with_the_same_losses(session_of):
    straight, other = session_of()
    straight.run()
    session, directory = session_of()
    send_after(session, directory, 7, "stop")
    assert session.run() == "stopped"
    session.store.close()
    again = resumed(session_of, directory)
    assert again.trainer.step == 7
    assert again.run() == "finished"
    expected = records_of(other)["loss"].tolist()
    records = records_of(directory)
    assert records["loss"].tolist() == expected
    assert records["attempt"].tolist() == [1] * 7 + [2] * 5
    assert [event["step"] for event in events_of(directory, "sample")] == [0, 6, 12]


def test_a_damaged_checkpoint_sends_the_run_back_to_the_one_before(session_of):
    session, directory = session_of()
    session.run()
    session.store.close()
    (directory / "ckpt" / "step-00000012.pt").write_bytes(b"damaged")
    again = resumed(session_of, directory)
    assert again.trainer.step == 8
    (finding,) = events_of(directory, "finding")
    assert finding["finding"] == "damaged_checkpoint"


class Killed(BaseException):
    """Nothing in core catches it."""


def crash(session, at_step):
    """Run the session until the step, then let it die without a word, as kill -9 does."""

    def die(step):
        if step == at_step:
            raise Killed("without a word")

    each_step(session, die)
    with pytest.raises(Killed, match="without a word"):
        session.run()
    session.store.close()


def test_a_change_acknowledged_after_the_checkpoint_is_repeated_at_its_step(session_of):
    straight, other = session_of(**CONSTANT_RATE)
    session, directory = session_of(**CONSTANT_RATE)
    for each, where in ((straight, other), (session, directory)):
        send_after(each, where, 5, "set_learning_rate_multiplier", 0.5)
    straight.run()
    crash(session, at_step=7)
    again = resumed(session_of, directory)
    assert (again.trainer.step, again.trainer.learning_rate_multiplier) == (4, 1.0)
    assert again.run() == "finished"
    kept = newest(records_of(directory))
    expected = records_of(other)
    assert kept["loss"].tolist() == expected["loss"].tolist()
    assert kept["learning_rate"].tolist() == expected["learning_rate"].tolist()
    assert kept["learning_rate"][[4, 5]] == pytest.approx([1e-3, 5e-4])


def test_a_new_change_after_a_resume_ends_the_repetition(session_of):
    session, directory = session_of(**CONSTANT_RATE)
    send_after(session, directory, 6, "set_learning_rate_multiplier", 0.5)
    crash(session, at_step=7)
    send(directory, "set_learning_rate_multiplier", 2.0)
    assert resumed(session_of, directory).run() == "finished"
    kept = newest(records_of(directory))
    assert kept["learning_rate"].tolist() == pytest.approx([1e-3] * 4 + [2e-3] * 8)


def test_a_stop_that_came_too_late_is_taken_back_by_the_resume(session_of):
    session, directory = session_of()
    crash(session, at_step=5)
    send(directory, "stop")
    send(directory, "resume")
    assert resumed(session_of, directory).run() == "finished"
    assert [ack["op"] for ack in events_of(directory, "ack")] == ["stop", "resume"]


def test_the_checkpoint_with_the_lowest_validation_loss_is_kept(session_of):
    session, directory = session_of(checkpoint_interval=2, eval_interval=12, learning_rate=0.01)
    losses = iter([3.0, 2.5, 1.0, 2.0, 2.1, 2.2, 2.3])
    session.trainer.validation_loss = lambda: next(losses)
    session.run()
    told = {e["step"]: e["validation_loss"] for e in events_of(directory, "checkpoint")}
    assert told == {2: 2.5, 4: 1.0, 6: 2.0, 8: 2.1, 10: 2.2, 12: 2.3}
    assert best_checkpoint(directory)[0].name == "step-00000004.pt"
    names = [path.name for path in checkpoints(directory)]
    assert names == ["step-00000004.pt", "step-00000010.pt", "step-00000012.pt"]


def milestone_steps_of(directory):
    return [checkpoint_step(path) for path in milestones(directory)]


def test_the_weights_of_eight_steps_are_kept_to_look_back_at(session_of):
    session, directory = session_of(num_steps=40, checkpoint_interval=40)
    seen = {0: session.trainer.model.tokens.weight.detach().clone()}

    def remember(step):
        seen[step] = session.trainer.model.tokens.weight.detach().clone()

    each_step(session, remember)
    assert session.run() == "finished"
    assert milestone_steps_of(directory) == list(milestone_steps(40))
    assert milestone_steps_of(directory) == [0, 2, 3, 5, 8, 14, 24, 40]
    for step in milestone_steps(40):
        contents = torch.load(milestone_path(directory, step), weights_only=True)
        assert contents["step"] == step
        assert torch.equal(contents["model"]["tokens.weight"], seen[step]), step
    assert {event["step"] for event in events_of(directory, "checkpoint")} == {40}


def test_a_resumed_run_forgets_the_milestones_that_lie_ahead_of_it(session_of):
    session, directory = session_of(num_steps=12, checkpoint_interval=4)
    assert session.run() == "finished"
    assert milestone_steps_of(directory)[-1] == 12
    (directory / "ckpt" / "step-00000012.pt").unlink()
    again = resumed(session_of, directory)
    assert max(milestone_steps_of(directory)) <= again.trainer.step == 8
    assert again.run() == "finished"
    assert milestone_steps_of(directory) == list(milestone_steps(12))


def test_a_milestone_that_cannot_be_written_costs_no_step(session_of, fails):
    session, directory = session_of(num_steps=6, checkpoint_interval=6)
    fails(
        "core.train.worker.observer.save_milestone",
        RunStorageError(28, "Cannot write the milestone"),
    )
    assert session.run() == "finished"
    assert records_of(directory)["step"].tolist() == list(range(1, 7))
    assert milestones(directory) == []
    findings = events_of(directory, "finding")
    assert {each["finding"] for each in findings} == {"checkpoint_failed"}
    assert [each["step"] for each in findings] == list(milestone_steps(6))


def test_on_a_full_disk_the_milestones_make_way_for_a_checkpoint(session_of, monkeypatch):
    whole, its_directory = session_of(num_steps=12, checkpoint_interval=100)
    whole.run()
    (size, *_), (small, *_) = (
        [path.stat().st_size for path in files]
        for files in (checkpoints(its_directory), milestones(its_directory))
    )
    session, directory = session_of(num_steps=12, checkpoint_interval=100)
    put = checkpoint._put_in_place

    def on_a_small_disk(path, contents):
        put(path, contents)
        used = sum(each.stat().st_size for each in directory.rglob("*.pt"))
        if used > size + 1.5 * small:
            path.unlink()
            raise storage_error(path, OSError(errno.ENOSPC, "No space left on device"))

    monkeypatch.setattr(checkpoint, "_put_in_place", on_a_small_disk)
    assert session.run() == "finished"
    assert [checkpoint_step(path) for path in checkpoints(directory)] == [12]
    assert milestone_steps_of(directory) == [0]


@pytest.fixture
def in_bursts(monkeypatch):
    """Trainers keep their numbers on the device, as on CUDA; six steps make a burst."""
    make = Trainer.__init__
    monkeypatch.setattr(Trainer, "__init__", lambda *args, **_options: make(*args, in_bursts=True))
    monkeypatch.setattr("core.train.worker.observer.BURST_STEPS", 6)
    monkeypatch.setattr("core.train.worker.observer.BURST_SECONDS", 60.0)


@pytest.fixture
def no_milestones(monkeypatch):
    """A short run has many of its few steps as milestones, and each one ends a burst."""
    monkeypatch.setattr("core.train.worker.observer.MILESTONE_PARAMETERS", 0)


def test_a_run_read_in_bursts_writes_the_same_steps_in_the_same_order(
    session_of, in_bursts, no_milestones
):
    session, directory = session_of(num_steps=16, **NOTHING_DUE)
    seen = []
    step = session.observer.step

    def count_records():
        results = step()
        seen.append(len(results))
        return results

    session.observer.step = count_records
    assert session.run() == "finished"
    assert seen == [1, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 6, 0, 0, 0]
    records = records_of(directory)
    assert records["step"].tolist() == list(range(1, 17))
    assert (np.diff(records["time"]) >= 0).all()
    assert (records["tokens_per_second"] > 0).all()


def test_what_is_due_is_written_behind_the_steps_that_a_burst_still_owed(session_of, in_bursts):
    session, directory = session_of()
    assert session.run() == "finished"
    increment = RunReader(directory).read_new()
    assert increment.records["step"].tolist() == list(range(1, 13))
    for event in increment.events:
        if event["kind"] in ("eval", "checkpoint") and event["step"]:
            place = event["step"] - 1
            assert increment.records["time"][place] <= event["time"]


def test_a_number_that_is_not_finite_halts_a_burst_at_its_very_step(
    session_of, in_bursts, sleep_instead
):
    session, directory = session_of(**NOTHING_DUE)
    name = "blocks.0.attention.qkv.weight"
    weight = session.trainer.model.get_parameter(name)
    before = {}

    def poison(gradient):
        if session.trainer.step == 3:
            before.setdefault("weight", weight.detach().clone())
            return gradient * math.nan
        return gradient

    weight.register_hook(poison)

    def look_then_stop(_seconds):
        before["state"] = read_state(directory)
        before["after"] = weight.detach().clone()
        send(directory, "stop")

    sleep_instead(look_then_stop)
    with hold_worker_lock(directory):
        assert session.run() == "stopped"
    state = before["state"]
    assert (state.state, state.reason, state.step) == ("paused", "non_finite", 4)
    assert torch.equal(before["weight"], before["after"])
    records = records_of(directory)
    assert records["step"].tolist() == [1, 2, 3, 4]
    assert records["flags"].tolist() == [0, 0, 0, 3]


def test_the_watched_step_is_read_alone(session_of, in_bursts):
    session, directory = session_of(**{**NOTHING_DUE, "memory_interval": 4})
    sizes, read = [], session.trainer.read_steps

    def count(launched):
        sizes.append([each.step for each in launched])
        return read(launched)

    session.trainer.read_steps = count
    assert session.run() == "finished"
    assert [4] in sizes
    assert [8] in sizes
    assert [event["step"] for event in events_of(directory, "memory")] == [1, 4, 8, 12]


def test_a_change_for_a_step_that_a_burst_takes_back_is_still_to_come(
    session_of, in_bursts, sleep_instead
):
    session, directory = session_of(**CONSTANT_RATE, **NOTHING_DUE)
    session._changes = [(6, 0.5)]
    weight = session.trainer.model.get_parameter("blocks.0.attention.qkv.weight")
    bad = {3}  # the step before the first that is not finite

    weight.register_hook(lambda each: each * (math.nan if session.trainer.step in bad else 1.0))
    seen = []

    def look_then_resume(_seconds):
        seen.append((session.trainer.step, session.trainer.learning_rate_multiplier))
        bad.clear()
        send(directory, "resume")

    sleep_instead(look_then_resume)
    with hold_worker_lock(directory):
        assert session.run() == "finished"
    assert seen[0] == (4, 1.0)
    rates = records_of(directory)["learning_rate"]
    assert rates == pytest.approx([1e-3] * 5 + [5e-4] * 7)


def test_commands_and_pauses_wait_for_no_burst(session_of, in_bursts):
    session, directory = session_of(**NOTHING_DUE)
    step = session.observer.step

    def send_before_it_is_read():
        results = step()
        if session.trainer.step == 4:
            send(directory, "set_learning_rate_multiplier", 0.5)
        return results

    session.observer.step = send_before_it_is_read
    session.run()
    (ack,) = events_of(directory, "ack")
    records = records_of(directory)
    assert ack["step"] == 5
    assert records["time"][3] <= ack["time"] <= records["time"][4]
