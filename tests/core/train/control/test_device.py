import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.train.control.device import (
    DeviceBusyError,
    NoSuchGpuError,
    device_for_now,
    device_holder,
    hold_device,
    hold_first,
    is_held_by,
    locks_folder,
    refuse_if_busy,
    stand_in_queue,
    training_devices,
)
from tests.core.train.queues import queued_runs


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
        next((tmp_path / "locks").glob("*-cpu.json")).unlink()
        assert device_holder("cpu") == "?"


def test_a_note_that_a_killed_run_left_behind_holds_no_device(tmp_path, monkeypatch):
    monkeypatch.setenv("B2G_STATE_DIR", str(tmp_path))
    with hold_device("cpu", "run-a"):
        assert is_held_by("run-a", "cpu")
        assert not is_held_by("run-b", "cpu")
        [note] = (tmp_path / "locks").glob("*-cpu.json")
        left = note.read_bytes()
    note.write_bytes(left)
    assert not is_held_by("run-a", "cpu")


def test_the_queue_is_in_the_order_of_asking_not_of_arriving():
    with (
        stand_in_queue("cpu", "late", 20.0) as late_is_first,
        stand_in_queue("cpu", "early", 10.0) as early_is_first,
    ):
        assert queued_runs("cpu") == ("early", "late")
        assert (early_is_first(), late_is_first()) == (training_devices("cpu"), ())
    assert queued_runs("cpu") == ()


def test_the_ticket_of_a_dead_process_does_not_count_and_is_swept_away():
    with stand_in_queue("cpu", "alive", 20.0) as is_first:
        (queue,) = locks_folder().glob("*-cpu-queue")
        dead = queue / "00000000000000000001-dead.lock"
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
        with hold_first(training_devices("cpu"), "patient"):
            assert queued_runs("cpu") == ("patient",)


def test_a_home_that_machines_share_holds_the_locks_of_each(monkeypatch):
    monkeypatch.setattr("platform.node", lambda: "../one.lab")
    with hold_device("cpu", "run-a"):
        assert device_holder("cpu") == "run-a"
        monkeypatch.setattr("platform.node", lambda: "two.lab")
        assert device_holder("cpu") == ""
        with hold_device("cpu", "run-b", patience=0.0):
            assert {path.parent for path in locks_folder().rglob("*.lock")} == {locks_folder()}


def test_a_start_takes_the_least_busy_gpu_that_is_free(gpus):
    gpus(GPU_a=20, GPU_b=60)
    with hold_device("cuda", "first") as first, hold_device("cuda", "second") as second:
        assert (first.gpu.uuid, second.gpu.uuid) == ("GPU-b", "GPU-a")
        assert device_holder("cuda", "GPU-a") == "second"
        with pytest.raises(DeviceBusyError, match="first is training on this CUDA"):
            refuse_if_busy("cuda")
        with (
            pytest.raises(DeviceBusyError, match="first is training on this CUDA"),
            hold_device("cuda", "third", patience=0.05),
        ):
            raise AssertionError("three runs hold two GPUs")


def test_the_device_is_free_while_one_of_its_gpus_is_and_a_named_one_only_while_it_is(gpus):
    gpus(GPU_a=20, GPU_b=60)
    with hold_device("cuda", "run-a", "GPU-b") as held:
        assert held.environment == {"CUDA_VISIBLE_DEVICES": "GPU-b"}
        assert (device_holder("cuda"), device_holder("cuda", "GPU-b")) == ("", "run-a")
        refuse_if_busy("cuda")
        assert device_for_now("cuda").gpu.uuid == "GPU-a"
        assert device_for_now("cuda", "GPU-b").gpu.uuid == "GPU-b"
        with pytest.raises(DeviceBusyError, match="run-a is training"):
            refuse_if_busy("cuda", "1")


def test_starts_at_the_same_moment_end_up_on_gpus_of_their_own(gpus):
    gpus(GPU_a=20, GPU_b=60, GPU_c=40)
    together = threading.Barrier(3)

    def take(run):
        together.wait()
        with hold_device("cuda", run) as device:
            together.wait()
            return device.gpu.uuid

    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(take, "abc")) == {"GPU-a", "GPU-b", "GPU-c"}


def test_who_waits_for_one_gpu_leaves_the_others_to_whoever_comes(gpus):
    gpus(GPU_a=20, GPU_b=60)
    with stand_in_queue("cuda", "patient", 1.0, "GPU-b"):
        assert queued_runs("cuda", "GPU-a") == ()
        refuse_if_busy("cuda")
        with hold_device("cuda", "hasty") as device:
            assert device.gpu.uuid == "GPU-a"
        with pytest.raises(DeviceBusyError, match="The run patient waits for this CUDA"):
            refuse_if_busy("cuda", "GPU-b")


def test_who_waits_for_any_gpu_stands_in_the_queue_of_each_and_is_named_once(gpus):
    gpus(GPU_a=20, GPU_b=60)
    with (
        stand_in_queue("cuda", "any", 2.0) as any_turn,
        stand_in_queue("cuda", "named", 1.0, "GPU-b") as named_turn,
    ):
        assert queued_runs("cuda") == ("named", "any")
        assert [device.gpu.uuid for device in any_turn()] == ["GPU-a"]
        assert [device.gpu.uuid for device in named_turn()] == ["GPU-b"]
        with pytest.raises(DeviceBusyError, match="The run named waits"):
            refuse_if_busy("cuda")


def test_where_nobody_tells_the_gpus_cuda_is_one_device_and_nothing_is_pinned(gpus):
    gpus()
    with hold_device("cuda", "run-a") as device:
        assert (device.gpu, device.environment) == (None, {})
        assert device_holder("cuda") == "run-a"


@pytest.mark.parametrize("name", ["2", "GPU-", "gpu-a", "card"])
def test_a_gpu_that_is_not_there_is_answered_with_those_that_are(gpus, name):
    gpus(GPU_a=20, GPU_b=60)
    told = rf"gpu is '{name}', .* 0 NVIDIA H100 \(GPU-a\), 1 NVIDIA H100 \(GPU-b\)"
    for ask in (device_holder, refuse_if_busy, device_for_now):
        with pytest.raises(NoSuchGpuError, match=told):
            ask("cuda", name)


def test_a_run_on_the_cpu_does_not_ask_for_gpus(monkeypatch):
    monkeypatch.setattr("core.train.control.device.visible_gpus", None)
    with hold_device("cpu", "run-a", "GPU-a") as device:
        assert device.environment == {}
        assert device_holder("cpu") == "run-a"
