"""What a student's own run may take, that it is marked, and that old ones go.

And the line in which they wait: its order, its bounds, and who goes first."""

import json
import threading
import time
from dataclasses import replace

import pytest

from core.train.config import TrainConfig
from core.train.control.commands import Inbox
from core.train.control.device import DeviceBusyError, hold_device
from core.train.run.directory import runs_directory
from core.train.run.shelf import list_runs, newest_run
from core.train.start import launch, sandbox
from core.train.start.sandbox import (
    MAX_OF_ADDRESS,
    MAX_SECONDS,
    MAX_STEPS,
    MAX_WAITING,
    Owners,
    SandboxQueue,
    capped,
    prepare_sandbox,
    start_sandbox_run,
    sweep_sandbox,
)

SMALL = TrainConfig(num_layers=1, hidden_dim=32, num_heads=2, seq_len=16, batch_size=2)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"hidden_dim": 512, "num_layers": 6},
            r"may have 1\.00 M parameters; this one has 19\.0 M",
        ),
        ({"batch_size": 1024}, "may take 16,384 tokens a step; this one takes 65,536"),
        ({"corpus": "upload"}, "not from a file"),
    ],
)
def test_what_is_too_large_is_refused_with_both_numbers(changes, sentence):
    config = TrainConfig(num_layers=2, hidden_dim=64, num_heads=4, seq_len=64)
    with pytest.raises(ValueError, match=sentence):
        prepare_sandbox(replace(config, **changes))


@pytest.mark.parametrize("seconds_per_step", [1e-5, 0.01, 0.2, 3.0])
def test_steps_are_capped_by_number_and_by_seconds(seconds_per_step):
    config = capped(TrainConfig(num_steps=10_000_000, max_steps_per_second=0.1), seconds_per_step)
    assert 1 <= config.num_steps <= MAX_STEPS
    # The preset never goes below ten steps.
    assert config.num_steps * seconds_per_step <= max(MAX_SECONDS, 10 * seconds_per_step)
    assert config.max_steps_per_second is None, "a governed run would hold the device for hours"


@pytest.fixture
def no_worker(monkeypatch, made_timing):
    """Make the run directory, but start no process."""
    spawned = []
    monkeypatch.setattr(sandbox, "timing_for", lambda _prepared: made_timing)
    monkeypatch.setattr(launch, "spawn_worker", lambda run, **_wait: spawned.append(run))
    return spawned


def test_a_run_is_marked_and_never_the_one_that_all_follow(no_worker):
    directory = start_sandbox_run(prepare_sandbox(replace(SMALL, num_steps=5)))
    assert no_worker == [directory]
    assert json.loads((directory / "run.json").read_text(encoding="utf-8"))["sandbox"] is True
    assert [run.name for run in list_runs(runs_directory())] == [directory.name]
    assert newest_run(runs_directory()) is None


def test_while_the_class_trains_nothing_is_started_or_timed(no_worker, monkeypatch):
    monkeypatch.setattr(sandbox, "timing_for", lambda _prepared: pytest.fail("timed"))
    with (
        hold_device("cpu", "20260102t030405z-class-00ff"),
        pytest.raises(DeviceBusyError, match="20260102t030405z-class-00ff"),
    ):
        start_sandbox_run(prepare_sandbox(SMALL))
    assert no_worker == []


def test_only_the_newest_students_runs_are_kept_and_the_class_s_are_left_alone(
    no_worker, wait_until
):
    wishes = [prepare_sandbox(replace(SMALL, num_steps=5, name=f"n{i}")) for i in range(4)]
    made = [start_sandbox_run(wish) for wish in wishes]
    for directory in made[:3]:
        state = {"state": "finished", "step": 5, "attempt": 1, "pid": 1, "time": 1.0}
        (directory / "state.json").write_text(json.dumps(state), encoding="utf-8")
    lesson = json.loads((made[0] / "run.json").read_text(encoding="utf-8"))
    (made[0] / "run.json").write_text(json.dumps(lesson | {"sandbox": False}), encoding="utf-8")

    sweep_sandbox(num_kept=1)

    left = {run.name for run in list_runs(runs_directory())}
    assert made[0].name in left, "not a student's"
    assert made[3].name in left, "not finished"
    assert len(left) in {2, 3}  # which of the others is the newest is decided by the same second


def write_state(directory, state):
    data = {"state": state, "step": 1, "attempt": 1, "pid": None, "time": time.time()}
    (directory / "state.json").write_text(json.dumps(data), encoding="utf-8")


class Starter:
    """Stands in for starting a run: makes its directory, refuses while `busy`."""

    def __init__(self, folder):
        self.folder, self.busy, self.error, self.started = folder, False, None, []

    def __call__(self, _prepared):
        if self.busy:
            raise DeviceBusyError("the class trains")
        if self.error:
            raise self.error
        directory = self.folder / f"20260102t030405z-own-{len(self.started):04x}"
        directory.mkdir()
        write_state(directory, "starting")
        self.started.append(directory)
        return directory


@pytest.fixture
def starter(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "_LOOK_SECONDS", 0.01)
    return Starter(tmp_path)


@pytest.fixture
def queue(starter, wait_until):
    line = SandboxQueue(starter)
    yield line
    starter.busy, starter.error = False, ValueError("the test is over")
    for directory in starter.started:
        write_state(directory, "finished")
    wait_until(lambda: line._thread is None)


def test_one_trains_at_a_time_in_the_order_of_asking(queue, starter, wait_until):
    tickets = [queue.enter(SMALL, owner=f"10.0.0.{number}") for number in range(3)]
    wait_until(lambda: tickets[0].run)
    assert [queue.place(each) for each in tickets] == [0, 2, 3]
    assert [each.run for each in tickets[1:]] == ["", ""]

    write_state(starter.started[0], "finished")
    wait_until(lambda: tickets[1].run)
    assert [queue.place(each) for each in tickets] == [0, 0, 2]
    assert [each.name for each in starter.started] == [each.run for each in tickets[:2]]


def test_while_the_class_trains_everybody_waits(queue, starter, wait_until):
    starter.busy = True
    ticket = queue.enter(SMALL)
    time.sleep(0.1)
    assert (ticket.run, queue.place(ticket)) == ("", 1)
    starter.busy = False
    wait_until(lambda: ticket.run)


def test_the_line_is_bounded_and_a_place_becomes_free_again(queue, starter):
    starter.busy = True
    tickets = [queue.enter(SMALL) for _ in range(MAX_WAITING)]
    with pytest.raises(ValueError, match=f"{MAX_WAITING} runs are waiting, the most"):
        queue.enter(SMALL)
    queue.leave(tickets[3])
    assert queue.place(tickets[3]) == 0
    assert queue.place(queue.enter(SMALL)) == MAX_WAITING


def test_a_second_wish_of_one_browser_takes_the_place_of_its_first(queue, starter):
    starter.busy = True
    first, other = queue.enter(SMALL, owner="ann"), queue.enter(SMALL, owner="ben")
    second = queue.enter(SMALL, owner="ann")
    assert [queue.place(each) for each in (first, other, second)] == [0, 1, 2]
    assert queue.newest_of("ann") is second
    with pytest.raises(ValueError, match="parameters; this one has"):
        queue.enter(TrainConfig(num_layers=12, hidden_dim=768, num_heads=12), owner="ann")
    assert queue.place(second) == 2, "a wish that is refused leaves the earlier one in the line"


def test_fresh_cookies_of_one_address_leave_places_in_the_line_to_others(queue, starter):
    starter.busy = True
    for number in range(MAX_OF_ADDRESS):
        queue.enter(SMALL, owner=f"cookie {number}", address="192.0.2.1")
    with pytest.raises(ValueError, match=f"{MAX_OF_ADDRESS} runs from your address are waiting"):
        queue.enter(SMALL, owner="a fresh cookie", address="192.0.2.1")
    queue.enter(SMALL, owner="cookie 3", address="192.0.2.1")  # in place of its earlier wish
    for number in range(MAX_WAITING - MAX_OF_ADDRESS):
        queue.enter(SMALL, owner=f"other {number}", address="192.0.2.2")


class Class:
    """Who is here, and the time."""

    def __init__(self):
        self.now, self.here, self.told = 100.0, {"ann", "ben", "cid"}, []

    def owners(self):
        return Owners(
            is_here=lambda owner: owner in self.here,
            on_start=self.told.append,
            clock=lambda: self.now,
        )


@pytest.fixture
def a_class():
    return Class()


@pytest.fixture
def line(starter, a_class, monkeypatch):
    """A line whose thread does nothing: the test takes its turns."""
    monkeypatch.setattr(SandboxQueue, "_work", lambda _line: None)
    return SandboxQueue(starter, a_class.owners())


def test_a_wish_waits_sixty_seconds_for_an_owner_who_has_gone(line, starter, a_class):
    starter.busy = True
    ann, ben = line.enter(SMALL, owner="ann"), line.enter(SMALL, owner="ben")
    a_class.now += 3600
    line._turn()
    assert [line.place(each) for each in (ann, ben)] == [1, 2], "who stays may wait for hours"
    a_class.here.discard("ann")
    a_class.now += 59
    line._turn()
    assert line.place(ann) == 1
    a_class.now += 1
    line._turn()
    assert [line.place(each) for each in (ann, ben)] == [0, 1]
    assert line.newest_of("ann") is None
    starter.busy = False
    line._turn()
    assert (ann.run, bool(ben.run)) == ("", True)


def test_who_comes_back_in_time_keeps_the_place_and_has_sixty_seconds_again(line, starter, a_class):
    starter.busy = True
    ann, ben = line.enter(SMALL, owner="ann"), line.enter(SMALL, owner="ben")
    for _ in range(3):
        a_class.here.discard("ann")
        a_class.now += 59
        line._turn()
        a_class.here.add("ann")
        line._turn()
        assert [line.place(each) for each in (ann, ben)] == [1, 2]


def test_no_run_is_started_for_who_is_away_and_the_next_one_has_the_turn(line, starter, a_class):
    ann, ben = line.enter(SMALL, owner="ann"), line.enter(SMALL, owner="ben")
    a_class.here.discard("ann")
    line._turn()
    assert (ann.run, bool(ben.run), line.place(ann)) == ("", True, 2)
    a_class.here.add("ann")
    write_state(starter.started[0], "finished")
    line._turn()
    line._turn()
    assert ann.run
    assert a_class.told == [ben, ann]


def test_three_who_leave_take_their_wishes_with_them_while_a_run_trains(line, starter, a_class):
    first = line.enter(SMALL, owner="the first")
    a_class.here.add("the first")
    line._turn()
    wishes = [line.enter(SMALL, owner=name) for name in ("ann", "ben", "cid")]
    assert [line.place(each) for each in wishes] == [2, 3, 4]
    a_class.here.clear()
    a_class.now += 60
    line._turn()
    assert [line.place(each) for each in wishes] == [0, 0, 0]
    assert line.trains(first), "a run that trains goes on"
    write_state(starter.started[0], "finished")
    line._turn()
    assert line._turn() is False
    assert len(starter.started) == 1


def test_a_wish_that_is_given_up_is_forgotten_and_its_run_goes_on(line, starter):
    ann = line.enter(SMALL, owner="ann")
    line._turn()
    line.leave(ann)
    assert (line.newest_of("ann"), line.trains(ann)) == (None, True)


def test_a_refusal_is_told_and_the_next_one_has_its_turn(queue, starter, wait_until):
    starter.error = OSError("the disk is full")
    first = queue.enter(SMALL)
    wait_until(lambda: first.error)
    assert (first.error, queue.place(first)) == ("the disk is full", 0)
    starter.error = None
    second = queue.enter(SMALL)
    wait_until(lambda: second.run)


def test_the_class_is_let_through_at_once_and_nobody_slips_in_before_it(queue, starter, wait_until):
    running, waiting = queue.enter(SMALL, owner="ann"), queue.enter(SMALL, owner="ben")
    wait_until(lambda: running.run)
    directory = starter.started[0]

    def obey():
        wait_until(lambda: [each.op for each in Inbox(directory).poll()] == ["stop"])
        write_state(directory, "stopped")

    worker = threading.Thread(target=obey)
    worker.start()
    queue.make_way(seconds=5)
    worker.join()
    time.sleep(0.1)
    assert waiting.run == "", "the class has the device to itself while it starts"
    assert len(starter.started) == 1
    assert (running.stopped, waiting.stopped) == (True, False), "its owner can be told"
    queue._hold_until = 0.0
    wait_until(lambda: waiting.run)


def test_a_run_that_overstays_is_told_to_stop(queue, starter, monkeypatch, wait_until):
    monkeypatch.setattr(sandbox, "MAX_SECONDS", -100.0)
    ticket = queue.enter(SMALL)
    wait_until(lambda: ticket.run)
    inbox = Inbox(starter.started[0])
    wait_until(lambda: any(each.op == "stop" for each in inbox.poll()))
