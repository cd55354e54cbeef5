import threading

import pytest

from pages.server import run_slots
from pages.server.run_slots import NUM_SLOTS, run_slot


def test_no_more_pages_than_slots_are_computed_and_all_have_their_turn():
    inside, most, lock = [], [], threading.Lock()
    gate = threading.Barrier(NUM_SLOTS)  # nobody leaves before the slots are full

    def compute(number):
        with run_slot():
            with lock:
                inside.append(number)
                most.append(len(inside))
            gate.wait(10)
            with lock:
                inside.remove(number)

    runs = [threading.Thread(target=compute, args=(number,)) for number in range(4 * NUM_SLOTS)]
    for each in runs:
        each.start()
    for each in runs:
        each.join(20)
    assert len(most) == 4 * NUM_SLOTS
    assert max(most) == NUM_SLOTS


def test_a_run_that_ends_with_an_error_gives_its_slot_back(monkeypatch):
    monkeypatch.setattr(run_slots, "_slots", threading.BoundedSemaphore(1))
    with pytest.raises(LookupError), run_slot():
        raise LookupError
    assert run_slots._slots.acquire(blocking=False)


def test_pages_that_take_long_hold_nobody_up_for_ever(monkeypatch):
    monkeypatch.setattr(run_slots, "_slots", threading.BoundedSemaphore(1))
    monkeypatch.setattr(run_slots, "PATIENCE", 0.01)
    with run_slot(), run_slot():  # the second waits, then goes on without a slot
        pass
    assert run_slots._slots.acquire(blocking=False)
