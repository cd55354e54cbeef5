"""Accelerators described from what torch says of them; torch's answers are put in by hand."""

import types

import pytest
import torch

from core.machine import devices

GIB = 1024**3


@pytest.fixture
def no_accelerator(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.xpu, "is_available", lambda: False)


@pytest.fixture
def two_cards(monkeypatch, no_accelerator):
    card = types.SimpleNamespace(name="A card", major=9, minor=0, gcnArchName="gfx942")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _index: card)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _index: (79 * GIB, 80 * GIB))


def test_each_nvidia_card_is_a_device_with_its_capability(two_cards, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", None)

    found = devices._accelerators()

    assert [each.torch_name for each in found] == ["cuda:0", "cuda:1"]
    assert {(each.kind, each.capability) for each in found} == {("cuda", "9.0")}
    assert (found[0].memory_free, found[0].memory_total) == (79 * GIB, 80 * GIB)


def test_a_rocm_build_answers_under_cuda_and_is_told_by_its_architecture(two_cards, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", "7.2")

    (first, _second) = devices._accelerators()

    assert (first.kind, first.torch_name, first.capability) == ("rocm", "cuda:0", "gfx942")


def test_an_apple_gpu_offers_the_memory_it_recommends(no_accelerator, monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 12 * GIB)
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: GIB)

    (gpu,) = devices._accelerators()

    assert (gpu.kind, gpu.memory_total, gpu.memory_free) == ("mps", 12 * GIB, 11 * GIB)


def test_an_intel_gpu_is_named_and_its_free_memory_left_open(no_accelerator, monkeypatch):
    card = types.SimpleNamespace(name="Arc", total_memory=16 * GIB)
    monkeypatch.setattr(torch.xpu, "is_available", lambda: True)
    monkeypatch.setattr(torch.xpu, "device_count", lambda: 1)
    monkeypatch.setattr(torch.xpu, "get_device_properties", lambda _index: card)

    (gpu,) = devices._accelerators()

    assert (gpu.kind, gpu.name, gpu.memory_free) == ("xpu", "Arc", None)


def test_without_any_there_is_only_the_cpu(no_accelerator):
    assert devices._accelerators() == ()


@pytest.mark.gpu
def test_a_real_card_multiplies_in_bfloat16():
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    card = devices.probe_devices()[1]

    assert next(dtype for dtype in card.dtypes if dtype.name == "bfloat16").works
    assert {"matmul bfloat16", "copy"} <= {speed.what for speed in card.speeds}
