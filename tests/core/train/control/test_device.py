import pytest

from core.train.control.device import (
    DeviceBusyError,
    device_holder,
    hold_device,
    locks_folder,
    queued_runs,
    refuse_if_busy,
    stand_in_queue,
)


def test_who_asks_is_told_which_run_holds_the_device_and_no_other_is_concerned():
    assert device_holder("cpu") == ""
    refuse_if_busy("cpu")
    with hold_device("cpu", "run-a"):
        assert (device_holder("cpu"), device_holder("cuda")) == ("run-a", "")
        with pytest.raises(DeviceBusyError, match="The run run-a is training on this CPU"):
            refuse_if_busy("cpu")
    assert device_holder("cpu") == ""


def test_the_second_to_hold_is_refused():
    with (
        hold_device("cpu", "run-a"),
        pytest.raises(DeviceBusyError, match="run-a is training"),
        hold_device("cpu", "run-b", patience=0.05),
    ):
        raise AssertionError("two runs hold one device")


def test_a_holder_that_did_not_write_its_name_is_still_a_holder(tmp_path, monkeypatch):
    monkeypatch.setenv("B2G_STATE_DIR", str(tmp_path))
    with hold_device("cpu", "run-a"):
        (tmp_path / "locks" / "cpu.json").unlink()
        assert device_holder("cpu") == "?"


def test_the_queue_is_in_the_order_of_asking_not_of_arriving():
    with (
        stand_in_queue("cpu", "late", 20.0) as late_is_first,
        stand_in_queue("cpu", "early", 10.0) as early_is_first,
    ):
        assert queued_runs("cpu") == ("early", "late")
        assert (early_is_first(), late_is_first()) == (True, False)
    assert queued_runs("cpu") == ()


def test_each_device_has_a_queue_of_its_own():
    with stand_in_queue("cuda", "a", 1.0):
        assert queued_runs("cpu") == ()


def test_the_ticket_of_a_dead_process_does_not_count_and_is_swept_away():
    with stand_in_queue("cpu", "alive", 20.0) as is_first:
        dead = locks_folder() / "cpu-queue" / "00000000000000000001-dead.lock"
        dead.touch()
        assert is_first()
        assert not dead.exists()


def test_who_does_not_wait_does_not_overtake_those_who_do():
    with stand_in_queue("cpu", "patient", 1.0):
        with pytest.raises(DeviceBusyError, match="The run patient waits for this CPU"):
            refuse_if_busy("cpu")
        with (
            pytest.raises(DeviceBusyError, match="The run patient waits for this CPU"),
            hold_device("cpu", "hasty"),
        ):
            raise AssertionError("it overtook")
        with hold_device("cpu", "patient", in_turn=True):
            assert queued_runs("cpu") == ("patient",)
