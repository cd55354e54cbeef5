"""What torch tells of this machine: names we rely on, accelerators put in by hand, dtypes tried."""

import json
import subprocess
import sys
import types
from unittest.mock import Mock

import psutil
import pytest
import torch

from core.machine import probe as program
from core.machine.kept_probe import probe_from_json
from core.machine.probe import (
    FEATURES,
    cpu_features,
    kernel_libraries,
    probe_devices,
    torch_dtypes,
    try_dtypes,
)

GIB = 1024**3


@pytest.fixture(scope="module")
def probe(root):
    command = [sys.executable, "-W", "error", "-m", "core.machine.probe", "--fast"]
    child = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert child.stderr == ""
    return probe_from_json(json.loads(child.stdout))


@pytest.mark.slow
def test_the_child_sees_the_torch_and_the_devices_that_we_see(probe):
    assert probe.torch == torch.__version__
    assert probe.cuda == torch.version.cuda
    num_accelerators = torch.accelerator.device_count() if torch.accelerator.is_available() else 0
    assert len(probe.devices) == 1 + num_accelerators


def test_the_cpu_is_always_there_with_all_its_memory(probe):
    cpu = probe.devices[0]
    assert (cpu.kind, cpu.torch_name) == ("cpu", "cpu")
    assert cpu.memory_total == psutil.virtual_memory().total
    assert cpu.capability == torch.backends.cpu.get_cpu_capability()
    assert next(dtype for dtype in cpu.dtypes if dtype.name == "float32").works
    assert cpu.speeds == ()


def test_speeds_are_measured_for_the_dtypes_that_work(monkeypatch):
    monkeypatch.setattr("core.machine.probe.CPU_SIZE", 32)
    monkeypatch.setattr("core.machine.probe.CPU_COPY", 4096)
    speeds = {speed.what: speed for speed in probe_devices()[0].speeds}
    assert set(speeds) == {"matmul float32", "matmul bfloat16", "copy"}
    assert all(speed.median > 0 for speed in speeds.values())


def test_torch_still_knows_the_features_by_these_names():
    known = torch.cpu.get_capabilities()
    wanted = {
        "x86_64": {"avx2", "avx512_f", "avx512_bf16", "amx_tile", "amx_bf16"},
        "arm64": {"neon", "bf16"},
    }
    expected = wanted.get(known["architecture"])
    if expected is None:
        pytest.skip(f"torch names no features on {known['architecture']}")
    assert expected <= set(known)


def test_features_are_torchs_own_answers():
    known = torch.cpu.get_capabilities()
    assert dict(cpu_features()) == {
        label: bool(known[key]) for key, label in FEATURES.items() if key in known
    }


def test_the_libraries_under_torch_are_named_with_their_versions():
    built_with = torch.__config__.show()
    for library in kernel_libraries():
        name, version = library.split(" ", 1)
        assert version in built_with or name == "cuDNN", library
    if torch.backends.mkldnn.is_available():
        assert any(library.startswith("oneDNN v") for library in kernel_libraries())


@pytest.fixture
def no_accelerator(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.xpu, "is_available", lambda: False)


@pytest.fixture
def two_cards(monkeypatch, no_accelerator):
    card = types.SimpleNamespace(
        name="A card", major=9, minor=0, gcnArchName="gfx942", total_memory=80 * GIB
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _index: card)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _index: (79 * GIB, 80 * GIB))


def test_each_nvidia_card_is_a_device_with_its_capability(two_cards, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", None)
    found = program._accelerators()
    assert [each.torch_name for each in found] == ["cuda:0", "cuda:1"]
    assert {(each.kind, each.capability) for each in found} == {("cuda", "9.0")}
    assert (found[0].memory_free, found[0].memory_total) == (79 * GIB, 80 * GIB)


def test_a_card_that_is_too_full_to_say_how_full_it_is_is_still_found(two_cards, monkeypatch):
    full = Mock(side_effect=torch.AcceleratorError("CUDA error: out of memory"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", full)
    monkeypatch.setattr(torch.version, "hip", None)
    assert {(each.memory_free, each.memory_total) for each in program._accelerators()} == {
        (None, 80 * GIB)
    }


def test_a_speed_that_does_not_fit_into_memory_is_left_out_and_the_others_stay(monkeypatch):
    full = Mock(side_effect=torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 512 MiB"))
    monkeypatch.setattr(program, "measure_copy", full)
    monkeypatch.setattr(program, "CPU_SIZE", 16)
    (cpu,) = [each for each in probe_devices() if each.kind == "cpu"]
    assert {speed.what for speed in cpu.speeds} == {"matmul float32", "matmul bfloat16"}


def test_a_rocm_build_answers_under_cuda_and_is_told_by_its_architecture(two_cards, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", "7.2")
    (first, _second) = program._accelerators()
    assert (first.kind, first.torch_name, first.capability) == ("rocm", "cuda:0", "gfx942")


def test_an_apple_gpu_offers_the_memory_it_recommends(no_accelerator, monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 12 * GIB)
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: GIB)
    (gpu,) = program._accelerators()
    assert (gpu.kind, gpu.memory_total, gpu.memory_free) == ("mps", 12 * GIB, 11 * GIB)


def test_an_intel_gpu_is_named_and_its_free_memory_left_open(no_accelerator, monkeypatch):
    card = types.SimpleNamespace(name="Arc", total_memory=16 * GIB)
    monkeypatch.setattr(torch.xpu, "is_available", lambda: True)
    monkeypatch.setattr(torch.xpu, "device_count", lambda: 1)
    monkeypatch.setattr(torch.xpu, "get_device_properties", lambda _index: card)
    (gpu,) = program._accelerators()
    assert (gpu.kind, gpu.name, gpu.memory_free) == ("xpu", "Arc", None)


@pytest.mark.gpu
def test_a_real_card_multiplies_in_bfloat16():
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    card = probe_devices()[1]
    assert next(dtype for dtype in card.dtypes if dtype.name == "bfloat16").works
    assert {"matmul bfloat16", "copy"} <= {speed.what for speed in card.speeds}


@pytest.fixture(scope="module")
def verdicts():
    return {verdict.name: verdict for verdict in try_dtypes("cpu")}


def trials_of(verdict):
    return {trial.operation: trial for trial in verdict.trials}


def test_every_dtype_of_this_torch_is_tried_once(verdicts):
    everything = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    assert set(verdicts) == {str(dtype).removeprefix("torch.") for dtype in everything}
    assert all(verdicts[name].item_bytes == dt.itemsize for name, dt in torch_dtypes().items())


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "float16", "int32", "uint8"])
def test_the_common_dtypes_do_everything(verdicts, name):
    assert verdicts[name].works
    assert list(trials_of(verdicts[name])) == ["create", "convert", "add", "matmul"]


def test_eight_bit_floats_multiply_matrices_but_do_not_add(verdicts):
    trials = trials_of(verdicts["float8_e4m3fn"])
    assert trials["matmul"].works
    with pytest.raises(NotImplementedError) as caught:
        torch.ones(2).to(torch.float8_e4m3fn) + torch.ones(2).to(torch.float8_e4m3fn)
    assert trials["add"].message == str(caught.value)


def test_a_wrong_result_is_not_a_working_dtype(monkeypatch):
    monkeypatch.setattr("core.machine.probe.SIDE", 300)
    verdicts = {verdict.name: verdict for verdict in try_dtypes("cpu")}
    matmul = verdicts["uint8"].trials[3]  # 300 does not fit into eight bits: 300 - 256 = 44
    assert (matmul.works, matmul.message) == (False, "gave 44 where 300 is right")


def test_a_square_product_counts_two_operations_for_each_multiply_and_add(monkeypatch):
    monkeypatch.setattr(program, "_times", lambda *_: [0.5, 1.0, 2.0])
    measured = program.measure_matmul("cpu", "float32", size=64)
    assert measured.median == 2 * 64**3 / 1.0
    assert (measured.low, measured.high) == (64**3, 4 * 64**3)
    assert (measured.what, measured.unit, measured.num_runs) == ("matmul float32", "FLOP/s", 3)


def test_a_copy_counts_each_byte_read_and_written(monkeypatch):
    monkeypatch.setattr(program, "_times", lambda *_: [2.0])
    assert program.measure_copy("cpu", num_bytes=1000).median == 1000
