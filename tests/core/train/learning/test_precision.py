from contextlib import nullcontext

import pytest
import torch

from core.machine import usable_cores
from core.train.learning.precision import (
    candidates,
    compute_in,
    device_name,
    num_training_threads,
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


def test_one_core_is_left_to_the_pages():
    assert num_training_threads() == max(usable_cores() - 1, 1)


def test_bfloat16_is_an_autocast_and_float32_is_nothing():
    assert isinstance(compute_in("fp32", CPU), nullcontext)
    with compute_in("bf16", CPU):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16


def test_a_cpu_tries_both_and_is_called_by_its_kind():
    assert candidates(CPU) == ("fp32", "bf16_fp32_attention")
    assert device_name(CPU) == "CPU"
