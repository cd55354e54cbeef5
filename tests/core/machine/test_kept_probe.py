"""The probe of this machine, made in a child process and kept; it travels as JSON."""

import json
from dataclasses import asdict

import pytest
import torch

from core.machine import cached_probe, kept_probe, probe_machine
from core.machine.kept_probe import probe_from_json

# A fresh Python that asks for a probe and then says whether torch came into the process.
SERVER_SIDE = (
    "import sys; from core.machine import probe_machine; probe = probe_machine();"
    "print(probe.torch, 'torch' in sys.modules)"
)


@pytest.fixture
def calls(monkeypatch, made_probe):
    """A list that grows with every child process that is asked."""
    asked = []
    told = json.dumps(asdict(made_probe))
    monkeypatch.setattr(kept_probe, "lines_of", lambda *_, **__: asked.append(1) or iter([told]))
    return asked


@pytest.mark.slow
def test_the_server_process_gets_a_probe_without_loading_torch(fresh_python):
    assert fresh_python(SERVER_SIDE).split() == [torch.__version__, "False"]


def test_a_probe_is_made_once_and_kept(calls, made_probe):
    assert cached_probe() is None
    assert probe_machine() == made_probe
    assert probe_machine() == cached_probe() == made_probe
    assert len(calls) == 1
    probe_machine(refresh=True)
    assert len(calls) == 2


def test_another_torch_or_other_visible_devices_need_another_probe(calls, monkeypatch):
    probe_machine()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    assert cached_probe() is None


def test_a_damaged_cache_is_made_again(calls, made_probe):
    probe_machine()
    for kept in kept_probe.state_directory().glob("probe-*.json"):
        kept.write_text("{half a pro")
    assert cached_probe() is None
    assert probe_machine() == made_probe


def test_a_probe_survives_the_journey_through_json(made_probe):
    assert probe_from_json(json.loads(json.dumps(asdict(made_probe)))) == made_probe


def test_the_best_device_is_the_first_accelerator(made_probe):
    assert made_probe.best_device is made_probe.devices[1]


def test_data_that_is_no_probe_is_refused(made_probe):
    with pytest.raises(ValueError, match="not the result of a probe: 'features'"):
        probe_from_json({"torch": "2.13.0"})
    with pytest.raises(ValueError, match="not the result of a probe"):
        probe_from_json(
            {**asdict(made_probe), "devices": [{"kind": "cpu", "dtypes": [], "speeds": []}]}
        )
