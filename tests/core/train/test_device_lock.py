import pytest

from core.train.device_lock import DeviceBusyError, device_holder, hold_device, refuse_if_busy


def test_a_free_device_has_no_holder():
    assert device_holder("cpu") == ""
    refuse_if_busy("cpu")


def test_who_asks_is_told_which_run_holds_the_device(monkeypatch):
    with hold_device("cpu", "run-a"):
        assert device_holder("cpu") == "run-a"
        with pytest.raises(DeviceBusyError, match="The run run-a is training on this CPU"):
            refuse_if_busy("cpu")
    assert device_holder("cpu") == ""


def test_another_device_is_not_concerned():
    with hold_device("cpu", "run-a"):
        assert device_holder("cuda") == ""


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
