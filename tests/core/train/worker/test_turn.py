import threading
import time
from contextlib import ExitStack

import pytest

from core.train.control.commands import StopSignal, send
from core.train.control.device import device_holder, hold_device
from core.train.run.reader import RunReader
from core.train.run.store import RunStore
from core.train.worker.turn import QueuedListener, QueueLeftError, device_in_turn
from tests.core.train.queues import queued_runs


def never():
    return False


def test_first_come_is_first_served_and_only_one_holds_the_device_at_a_time(wait_until):
    served, holding, standing = [], [], set()

    def wait_and_work(run, asked_at):
        def stands():  # asked only of a run that holds its ticket
            standing.add(run)
            return False

        with device_in_turn("cpu", run, asked_at, stands):
            holding.append(run)
            assert holding == [run]
            served.append(run)
            time.sleep(0.05)
            holding.remove(run)

    with hold_device("cpu", "first"):
        waiting = [
            threading.Thread(target=wait_and_work, args=(f"run-{place}", float(place)))
            for place in (3, 1, 2)
        ]
        for thread in waiting:
            thread.start()
        wait_until(lambda: len(standing) == 3)
        assert queued_runs("cpu") == ("run-1", "run-2", "run-3")
        assert served == []
    for thread in waiting:
        thread.join()
    assert served == ["run-1", "run-2", "run-3"]
    assert device_holder("cpu") == ""


def test_who_gives_up_leaves_the_queue():
    with (
        hold_device("cpu", "first"),
        pytest.raises(QueueLeftError, match="tired"),
        device_in_turn("cpu", "tired", 1.0, lambda: True),
    ):
        raise AssertionError("two hold one device")
    assert queued_runs("cpu") == ()


def test_a_queued_run_hears_a_stop_and_answers_all_that_was_asked_before_it(run_directory):
    with RunStore(run_directory) as store:
        listener = QueuedListener(store, 7, StopSignal())
        send(run_directory, "set_learning_rate_multiplier", 0.5)
        assert not listener.gives_up()
        send(run_directory, "stop")
        assert listener.gives_up()
    acks = RunReader(run_directory).read_new().events
    assert [(ack["op"], ack["step"], ack["accepted"]) for ack in acks] == [
        ("set_learning_rate_multiplier", 8, True),
        ("stop", 7, True),
    ]


def test_a_stop_that_was_taken_back_is_none_and_nothing_is_answered_yet(run_directory):
    send(run_directory, "stop")
    send(run_directory, "resume")
    with RunStore(run_directory) as store:
        assert not QueuedListener(store, 0, StopSignal()).gives_up()
    assert RunReader(run_directory).read_new().events == ()


def test_a_signal_ends_the_waiting_too(run_directory):
    stop = StopSignal()
    with RunStore(run_directory) as store:
        listener = QueuedListener(store, 0, stop)
        assert not listener.gives_up()
        stop.requested = True
        assert listener.gives_up()


def test_a_run_that_waits_for_any_gpu_takes_the_first_that_becomes_free(gpus):
    gpus(GPU_a=20, GPU_b=60)
    with ExitStack() as later, hold_device("cuda", "stays", "GPU-b"):
        ending = later.enter_context(ExitStack())
        ending.enter_context(hold_device("cuda", "ends", "GPU-a"))

        def end_the_other():
            assert queued_runs("cuda", "GPU-a") == queued_runs("cuda", "GPU-b") == ("waits",)
            ending.close()
            return False

        with device_in_turn("cuda", "waits", 1.0, end_the_other) as device:
            assert device.gpu.uuid == "GPU-a"
            assert queued_runs("cuda") == ()
