"""What NVIDIA's library tells, asked of a made one: no machine of ours has such a card."""

import sys
from types import SimpleNamespace

import pytest

from core.machine.nvml import least_busy_first, visible_gpus
from core.units import GIB


class NVMLError(Exception):
    """What the library raises."""


def card(uuid, *, free=60, busy=0, slices=(), pids=()):
    """A card, or a slice, as the made library holds it; memory in GiB."""
    return SimpleNamespace(uuid=uuid, free=free, busy=busy, slices=slices, pids=pids)


@pytest.fixture
def library(monkeypatch):
    """Return install(*cards): the library that knows these."""

    def install(*cards):
        def utilization(handle):
            if handle.uuid.startswith("MIG"):
                raise NVMLError("Not Supported")
            return SimpleNamespace(gpu=handle.busy)

        def memory(handle):
            if handle.free is None:
                raise NVMLError("GPU is lost")
            return SimpleNamespace(total=80 * GIB, free=handle.free * GIB, used=0)

        def slice_at(handle, index):
            if index >= len(handle.slices):
                raise NVMLError("Not Found")
            return handle.slices[index]

        made = SimpleNamespace(
            NVMLError=NVMLError,
            nvmlInit=lambda: None,
            nvmlShutdown=lambda: None,
            nvmlDeviceGetCount=lambda: len(cards),
            nvmlDeviceGetHandleByIndex=lambda index: cards[index],
            nvmlDeviceGetMigMode=lambda handle: [int(bool(handle.slices)), 0],
            nvmlDeviceGetMaxMigDeviceCount=lambda _handle: 7,
            nvmlDeviceGetMigDeviceHandleByIndex=slice_at,
            nvmlDeviceGetMemoryInfo=memory,
            nvmlDeviceGetUtilizationRates=utilization,
            nvmlDeviceGetComputeRunningProcesses=lambda handle: [
                SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in handle.pids
            ],
            nvmlDeviceGetUUID=lambda handle: handle.uuid,
            nvmlDeviceGetName=lambda _handle: "NVIDIA H100 80GB HBM3",
        )
        monkeypatch.setitem(sys.modules, "pynvml", made)

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return install


def uuids():
    return [gpu.uuid for gpu in visible_gpus()]


def test_without_a_driver_there_are_no_gpus(library, monkeypatch):
    library()

    def no_driver():
        raise NVMLError("Driver Not Loaded")

    monkeypatch.setattr(sys.modules["pynvml"], "nvmlInit", no_driver)
    assert visible_gpus() == ()


def test_the_installed_library_says_nothing_of_gpus_that_are_not_there(monkeypatch):
    pynvml = pytest.importorskip("pynvml")
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        assert visible_gpus() == ()
    else:
        assert len(visible_gpus()) >= 1


def test_a_gpu_tells_its_memory_its_work_and_who_computes_there(library):
    library(card("GPU-a", free=20, busy=35, pids=[(7, 3 * GIB), (8, None)]))
    (gpu,) = visible_gpus()
    assert (gpu.name, gpu.is_slice) == ("NVIDIA H100 80GB HBM3", False)
    assert (gpu.total_bytes, gpu.used_bytes, gpu.free_bytes) == (80 * GIB, 60 * GIB, 20 * GIB)
    assert gpu.utilization == 0.35
    assert [(each.pid, each.num_bytes) for each in gpu.processes] == [(7, 3 * GIB), (8, None)]


def test_a_driver_that_stops_answering_in_between_is_no_driver(library, monkeypatch):
    library(card("GPU-a"))

    def lost():
        raise NVMLError("Unknown Error")

    monkeypatch.setattr(sys.modules["pynvml"], "nvmlShutdown", lost)
    assert uuids() == ["GPU-a"]
    monkeypatch.setattr(sys.modules["pynvml"], "nvmlDeviceGetCount", lost)
    assert uuids() == []


def test_of_a_card_that_is_cut_up_only_its_slices_can_be_used(library):
    library(card("GPU-a", slices=(card("MIG-1"), card("MIG-2"))), card("GPU-b"))
    assert uuids() == ["MIG-1", "MIG-2", "GPU-b"]
    first = visible_gpus()[0]
    assert first.is_slice
    assert first.utilization is None


def test_a_card_that_fell_off_the_bus_is_left_out(library):
    library(card("GPU-a", free=None), card("GPU-b"))
    assert uuids() == ["GPU-b"]


@pytest.mark.parametrize(
    ("visible", "seen"),
    [
        ("1", ["GPU-bb"]),
        ("1,0", ["GPU-bb", "GPU-aa"]),
        ("GPU-c", ["GPU-cc"]),
        ("GPU-cc, GPU-aa", ["GPU-cc", "GPU-aa"]),
        ("0,9,1", ["GPU-aa"]),
        ("GPU-", []),
        ("-1", []),
        ("", []),
    ],
)
def test_visible_devices_are_read_as_cuda_reads_them(library, monkeypatch, visible, seen):
    library(card("GPU-aa"), card("GPU-bb"), card("GPU-cc"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert uuids() == seen


def test_the_least_busy_has_the_most_free_memory_then_the_least_to_do(library):
    library(card("GPU-a", free=10), card("GPU-b", busy=90), card("GPU-c", busy=5))
    assert [gpu.uuid for gpu in least_busy_first(visible_gpus())] == ["GPU-c", "GPU-b", "GPU-a"]
