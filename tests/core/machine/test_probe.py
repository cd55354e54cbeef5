"""The probe of this machine, made in a child process."""

import json
import subprocess
import sys
import types

import psutil
import pytest
import torch

from core.machine import cached_probe, kept_probe, probe_machine
from core.machine.devices import probe_devices
from core.machine.records import probe_from_json

# A fresh Python that asks for a probe and then says whether torch came into the process.
SERVER_SIDE = (
    "import sys; from core.machine import probe_machine; probe = probe_machine();"
    "print(probe.torch, 'torch' in sys.modules)"
)


@pytest.fixture(scope="module")
def probe(root):
    command = [sys.executable, "-W", "error", "-m", "core.machine.probe", "--json", "--fast"]
    child = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert child.stderr == ""
    return probe_from_json(json.loads(child.stdout))


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


def test_the_server_process_gets_a_probe_without_loading_torch(root):
    command = [sys.executable, "-c", SERVER_SIDE]
    child = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)

    assert child.stdout.split() == [torch.__version__, "False"]


def test_a_probe_is_made_once_and_kept(monkeypatch, probe):
    calls = []
    monkeypatch.setattr(kept_probe, "_probe_in_child", lambda: calls.append(1) or probe)

    assert cached_probe() is None
    assert probe_machine() == probe
    assert probe_machine() == cached_probe() == probe
    assert len(calls) == 1
    probe_machine(refresh=True)
    assert len(calls) == 2


def test_another_torch_or_other_visible_devices_need_another_probe(monkeypatch, probe):
    monkeypatch.setattr(kept_probe, "_probe_in_child", lambda: probe)
    probe_machine()

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")

    assert cached_probe() is None


def test_a_damaged_cache_is_made_again(monkeypatch, probe):
    monkeypatch.setattr(kept_probe, "_probe_in_child", lambda: probe)
    probe_machine()
    for kept in kept_probe.state_directory().glob("probe-*.json"):
        kept.write_text("{half a pro")

    assert cached_probe() is None
    assert probe_machine() == probe


def test_a_child_that_fails_is_told_in_its_own_last_words(monkeypatch):
    failed = types.SimpleNamespace(
        returncode=1, stdout="", stderr="Traceback\nImportError: libtorch"
    )
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: failed)

    with pytest.raises(ValueError, match=r"could not be asked .*: ImportError: libtorch"):
        probe_machine()


def test_a_child_that_hangs_is_given_up(monkeypatch):
    def hang(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", hang)

    with pytest.raises(ValueError, match="did not answer within 180 s"):
        probe_machine()


def test_speeds_are_measured_for_the_dtypes_that_work(monkeypatch):
    monkeypatch.setattr("core.machine.devices.CPU_SIZE", 32)
    monkeypatch.setattr("core.machine.devices.CPU_COPY", 4096)

    speeds = {speed.what: speed for speed in probe_devices()[0].speeds}

    assert set(speeds) == {"matmul float32", "matmul bfloat16", "copy"}
    assert all(speed.median > 0 for speed in speeds.values())
