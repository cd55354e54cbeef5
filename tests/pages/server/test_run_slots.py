import threading
import time

import pytest

from pages.server.run_slots import NUM_SLOTS, Line, run_slot


def start(work):
    thread = threading.Thread(target=work)
    thread.start()
    return thread


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

    runs = [start(lambda number=number: compute(number)) for number in range(4 * NUM_SLOTS)]
    for each in runs:
        each.join(20)
    assert len(most) == 4 * NUM_SLOTS
    assert max(most) == NUM_SLOTS


def test_who_waits_longest_is_next():
    line, order = Line(1, patience=60), []

    def compute(number):
        with line.slot():
            order.append(number)

    with line.slot():
        runs = []
        for number in range(8):
            runs.append(start(lambda number=number: compute(number)))
            while len(line._waiting) < len(runs):
                time.sleep(0.001)
    for each in runs:
        each.join(20)
    assert order == list(range(8))


def test_a_run_that_ends_with_an_error_gives_its_slot_back():
    line = Line(1, patience=0)
    with pytest.raises(LookupError), line.slot():
        raise LookupError
    assert not line._held_since


def test_pages_that_take_long_hold_nobody_up_for_ever():
    line = Line(1, patience=0.01)
    with line.slot():
        with line.slot():  # waits, then goes on without a slot
            pass
        assert (len(line._held_since), list(line._waiting)) == (1, [])
    assert not line._held_since


def test_a_slot_that_is_held_for_too_long_is_given_to_the_next_who_asks():
    line = Line(1, patience=0, longest=0)
    with line.slot():
        (hanging,) = line._held_since
        with line.slot():
            (held,) = line._held_since
            assert held is not hanging
        assert not line._held_since
    assert not line._held_since  # what was taken away is not given back twice
