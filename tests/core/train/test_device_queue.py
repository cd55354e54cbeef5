import pytest

from core.train.device_lock import (
    DeviceBusyError,
    hold_device,
    locks_folder,
    refuse_if_busy,
)
from core.train.device_queue import queued_runs, stand_in_queue


def test_the_queue_is_in_the_order_of_asking_not_of_arriving():
    locks = locks_folder()
    with (
        stand_in_queue(locks, "cpu", "late", 20.0) as late_is_first,
        stand_in_queue(locks, "cpu", "early", 10.0) as early_is_first,
    ):
        assert queued_runs(locks, "cpu") == ("early", "late")
        assert (early_is_first(), late_is_first()) == (True, False)
    assert queued_runs(locks, "cpu") == ()


def test_each_device_has_a_queue_of_its_own():
    with stand_in_queue(locks_folder(), "cuda", "a", 1.0):
        assert queued_runs(locks_folder(), "cpu") == ()


def test_the_ticket_of_a_dead_process_does_not_count_and_is_swept_away():
    locks = locks_folder()
    with stand_in_queue(locks, "cpu", "alive", 20.0) as is_first:
        dead = locks / "cpu-queue" / "00000000000000000001-dead.lock"
        dead.touch()
        assert is_first()
        assert not dead.exists()


def test_who_does_not_wait_does_not_overtake_those_who_do():
    with stand_in_queue(locks_folder(), "cpu", "patient", 1.0):
        with pytest.raises(DeviceBusyError, match="The run patient waits for this CPU"):
            refuse_if_busy("cpu")
        with (
            pytest.raises(DeviceBusyError, match="The run patient waits for this CPU"),
            hold_device("cpu", "hasty"),
        ):
            raise AssertionError("it overtook")
        with hold_device("cpu", "patient", in_turn=True):
            assert queued_runs(locks_folder(), "cpu") == ("patient",)
