"""The line of students' runs: its order, its bounds, and who goes first."""

import json
import threading
import time

import pytest

from core.train import sandbox_queue as room
from core.train.config import TrainConfig
from core.train.control import Inbox
from core.train.device_lock import DeviceBusyError
from core.train.sandbox_queue import MAX_WAITING, SandboxQueue

CONFIG = TrainConfig(num_layers=1, hidden_dim=32, num_heads=2, seq_len=16, batch_size=2)


def write_state(directory, state):
    data = {"state": state, "step": 1, "attempt": 1, "pid": None, "time": time.time()}
    (directory / "state.json").write_text(json.dumps(data), encoding="utf-8")


class Starter:
    """Stands in for starting a run: makes its directory, refuses while `busy`."""

    def __init__(self, folder):
        self.folder, self.busy, self.error, self.started = folder, False, None, []

    def __call__(self, _config):
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
    monkeypatch.setattr(room, "_LOOK_SECONDS", 0.01)
    return Starter(tmp_path)


@pytest.fixture
def queue(starter):
    line = SandboxQueue(starter)
    yield line
    starter.busy, starter.error = False, ValueError("the test is over")
    for directory in starter.started:
        write_state(directory, "finished")
    wait_for(lambda: line._thread is None)


def wait_for(condition, seconds=10):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_one_trains_at_a_time_in_the_order_of_asking(queue, starter):
    tickets = [queue.enter(CONFIG, owner=f"10.0.0.{number}") for number in range(3)]
    wait_for(lambda: tickets[0].run)
    assert [queue.place(each) for each in tickets] == [0, 2, 3]
    assert [each.run for each in tickets[1:]] == ["", ""]

    write_state(starter.started[0], "finished")
    wait_for(lambda: tickets[1].run)
    assert [queue.place(each) for each in tickets] == [0, 0, 2]
    assert [each.name for each in starter.started] == [each.run for each in tickets[:2]]


def test_while_the_class_trains_everybody_waits(queue, starter):
    starter.busy = True
    ticket = queue.enter(CONFIG)
    time.sleep(0.1)
    assert (ticket.run, queue.place(ticket)) == ("", 1)
    starter.busy = False
    wait_for(lambda: ticket.run)


def test_the_line_is_bounded_and_a_place_becomes_free_again(queue, starter):
    starter.busy = True
    tickets = [queue.enter(CONFIG) for _ in range(MAX_WAITING)]
    with pytest.raises(ValueError, match=f"{MAX_WAITING} runs are waiting, the most"):
        queue.enter(CONFIG)
    queue.leave(tickets[3])
    assert queue.place(tickets[3]) == 0
    assert queue.place(queue.enter(CONFIG)) == MAX_WAITING


def test_one_computer_waits_once(queue, starter):
    starter.busy = True
    queue.enter(CONFIG, owner="10.0.0.9")
    with pytest.raises(ValueError, match="from your computer is waiting already"):
        queue.enter(CONFIG, owner="10.0.0.9")
    queue.enter(CONFIG, owner="10.0.0.8")


def test_a_config_that_is_too_large_never_enters(queue, starter):
    with pytest.raises(ValueError, match="parameters; this one has"):
        queue.enter(TrainConfig(num_layers=12, hidden_dim=768, num_heads=12))
    assert starter.started == []


def test_a_refusal_is_told_and_the_next_one_has_its_turn(queue, starter):
    starter.error = OSError("the disk is full")
    first = queue.enter(CONFIG)
    wait_for(lambda: first.error)
    assert (first.error, queue.place(first)) == ("the disk is full", 0)
    starter.error = None
    second = queue.enter(CONFIG)
    wait_for(lambda: second.run)


def test_the_class_is_let_through_at_once_and_nobody_slips_in_before_it(queue, starter):
    running, waiting = queue.enter(CONFIG), queue.enter(CONFIG)
    wait_for(lambda: running.run)
    directory = starter.started[0]

    def obey():
        wait_for(lambda: [each.op for each in Inbox(directory).poll()] == ["stop"])
        write_state(directory, "stopped")

    worker = threading.Thread(target=obey)
    worker.start()
    queue.make_way(seconds=5)
    worker.join()
    time.sleep(0.1)
    assert waiting.run == "", "the class has the device to itself while it starts"
    assert len(starter.started) == 1
    queue._hold_until = 0.0
    wait_for(lambda: waiting.run)


def test_a_run_that_overstays_is_told_to_stop(queue, starter, monkeypatch):
    monkeypatch.setattr(room, "MAX_SECONDS", -100.0)
    ticket = queue.enter(CONFIG)
    wait_for(lambda: ticket.run)
    inbox = Inbox(starter.started[0])
    wait_for(lambda: any(each.op == "stop" for each in inbox.poll()))
