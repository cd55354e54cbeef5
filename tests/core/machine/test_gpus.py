"""What a measurement on a GPU depends on, read from a driver made of files and from a made tool."""

import pytest

from core.machine import gpus
from core.machine.gpus import VISIBLE, gpu_facts

INFORMATION = """Model: \t\t NVIDIA H100 80GB HBM3
IRQ:   \t\t 42
GPU UUID: \t GPU-{uuid}
"""
TOOL = """#!/bin/sh
echo "GPU-tool, 580.65"
"""


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch, tmp_path):
    """No variable, no driver, no tool."""
    for name in VISIBLE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(gpus, "_DRIVER", tmp_path / "driver")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    gpus._told_by_the_tool.cache_clear()
    yield
    gpus._told_by_the_tool.cache_clear()


@pytest.fixture
def driver(tmp_path):
    """Return driver(version, *uuids): what NVIDIA's driver writes for these cards."""

    def make(version, *uuids):
        folder = tmp_path / "driver"
        for place, uuid in enumerate(uuids):
            card = folder / "gpus" / f"0000:{place:02d}:00.0"
            card.mkdir(parents=True, exist_ok=True)
            (card / "information").write_text(INFORMATION.format(uuid=uuid))
        (folder / "version").write_text(f"NVRM version: {version}\nGCC version: 12\n")

    return make


def test_a_machine_without_gpus_has_no_facts():
    assert gpu_facts() == ()


def test_driver_cards_and_visible_devices_are_facts(driver, monkeypatch):
    driver("580.65", "a")
    alone = gpu_facts()
    assert alone == ("NVRM version: 580.65", "NVIDIA H100 80GB HBM3 GPU-a")
    driver("580.65", "a", "b")
    assert gpu_facts() != alone
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-1")
    assert gpu_facts()[0] == "CUDA_VISIBLE_DEVICES=MIG-1"


def test_without_the_drivers_files_its_tool_is_asked(tmp_path):
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    assert "GPU-tool, 580.65" in gpu_facts()


def test_a_tool_that_fails_tells_nothing(tmp_path):
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.write_text("#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    assert gpu_facts() == ()
