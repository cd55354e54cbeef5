import warnings
from unittest.mock import Mock

import pytest
import torch

from core.train.learning.precision import (
    candidates,
    gpu_trouble,
    multiply_fp32_in_fp32,
    pick_device,
)

CPU = torch.device("cpu")


def test_auto_takes_the_best_device_that_is_there():
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert pick_device("auto").type in {expected, "mps"}
    assert pick_device("cpu") == CPU


def test_a_device_that_is_not_there_is_refused():
    missing = "mps" if not torch.backends.mps.is_available() else "cuda"
    with pytest.raises(ValueError, match=f"no {missing} device that torch can use"):
        pick_device(missing)


@pytest.fixture
def a_gpu(monkeypatch):
    """Return a_gpu(error): torch finds a card; its first operation raises the error, if any."""
    gpu_trouble.cache_clear()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)

    def make(error=None):
        monkeypatch.setattr(torch, "ones", Mock(side_effect=error))

    yield make
    gpu_trouble.cache_clear()


def test_a_gpu_on_which_an_operation_works_is_taken(a_gpu):
    a_gpu()
    assert gpu_trouble() is None
    assert pick_device("auto") == pick_device("cuda") == torch.device("cuda")


def test_a_full_gpu_is_still_the_device(a_gpu):
    a_gpu(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB."))
    assert pick_device("auto") == torch.device("cuda")


def test_a_gpu_without_kernels_is_left_for_the_cpu_and_refused_by_name(a_gpu):
    a_gpu(torch.AcceleratorError("CUDA error: no kernel image is available\nFor debugging ..."))
    assert gpu_trouble() == "CUDA error: no kernel image is available"
    assert pick_device("auto").type in {"cpu", "mps"}
    with pytest.raises(ValueError, match=r"cannot use the GPU here .*no kernel image"):
        pick_device("cuda")


def test_the_warning_of_a_driver_that_is_too_old_is_the_reason(a_gpu, monkeypatch):
    def look():
        warnings.warn("The NVIDIA driver on your system is too old\n(11040)", stacklevel=1)
        return False

    monkeypatch.setattr(torch.cuda, "is_available", look)
    assert gpu_trouble() == "The NVIDIA driver on your system is too old"


def test_who_asks_for_the_cpu_does_not_touch_the_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", Mock(side_effect=AssertionError))
    assert pick_device("cpu") == CPU


@pytest.mark.parametrize(("native", "tried"), [(True, ("bf16",)), (False, ("fp16", "fp32"))])
def test_a_card_that_only_emulates_bfloat16_tries_float16_and_float32(monkeypatch, native, tried):
    def is_supported(including_emulation=True):
        return native or including_emulation

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", is_supported)
    assert candidates(torch.device("cuda")) == tried


def test_fp32_is_multiplied_in_fp32_whatever_was_set_before(monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    torch.set_float32_matmul_precision("high")
    multiply_fp32_in_fp32()
    assert torch.get_float32_matmul_precision() == "highest"
    assert not torch.backends.cudnn.allow_tf32
