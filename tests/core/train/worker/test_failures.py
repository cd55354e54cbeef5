import os
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from core.train.control.device import DeviceBusyError, DeviceGoneError, NoSuchGpuError
from core.train.run.disk import RunStorageError
from core.train.run.state import RunState, state_sentence
from core.train.worker.failures import EXIT_BUSY, failure_of, is_out_of_memory

INFO = {
    "config": {"batch_size": 16, "accumulation_steps": 2},
    "prediction": {"memory": {"weights": 1 << 30, "activations": 3 << 30}},
}


@pytest.mark.parametrize(
    "allocate",
    [
        lambda: torch.empty(1 << 58),
        lambda: np.empty(1 << 58),
        Mock(side_effect=torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")),
        Mock(side_effect=RuntimeError("MPS backend out of memory (MPS allocated: 8 GB)")),
        Mock(
            side_effect=RuntimeError(
                "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"
            )
        ),
    ],
    ids=["torch on a CPU", "numpy", "CUDA", "MPS", "cuBLAS"],
)
def test_every_allocators_refusal_is_known_as_out_of_memory(allocate):
    with pytest.raises((RuntimeError, MemoryError), match=r"(?i)memory|alloc") as raised:
        allocate()
    failure = failure_of(raised.value, INFO)
    assert (failure.reason, failure.is_known) == ("out_of_memory", True)
    assert failure.values["predicted_bytes"] == 4 << 30
    assert failure.values["actual_bytes"] > 1 << 20


def sentence(info):
    failure = failure_of(MemoryError(), info)
    return state_sentence(RunState(state="failed", message=failure.message, values=failure.values))


def test_the_sentence_sets_prediction_beside_fact_and_says_what_to_do():
    told = sentence(INFO)
    assert "predicted to need 4.00 GiB" in told
    assert "Halve the batch to 8 and set the accumulation steps to 4" in told
    assert "{" not in told
    told = sentence({**INFO, "config": {"batch_size": 1}})
    assert "choose a shorter context or a smaller model" in told


@pytest.mark.parametrize(
    ("batch_size", "advice"), [(16, "Halve the batch to 8"), (1, "choose a shorter context")]
)
def test_a_gpu_that_is_too_full_to_say_how_full_it_is_still_leaves_a_sentence(
    monkeypatch, batch_size, advice
):
    refusal = torch.AcceleratorError("CUDA error: out of memory")
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 7 << 30)
    monkeypatch.setattr(torch.cuda, "mem_get_info", Mock(side_effect=refusal))
    failure = failure_of(refusal, {**INFO, "config": {"batch_size": batch_size}})
    assert failure.reason == "out_of_memory"
    told = state_sentence(RunState(state="failed", message=failure.message, values=failure.values))
    assert "held 7.00 GiB when it failed" in told
    assert advice in told
    assert "{" not in told
    assert "free" not in told


@pytest.mark.parametrize(
    ("words", "reason", "advice"),
    [
        ("no kernel image is available for execution on the device", "no_kernels", "Install"),
        ("CUDA-capable device(s) is/are busy or unavailable", "device_taken", "nvidia-smi"),
        ("no CUDA-capable device is detected", "device_lost", "checkpoint is kept"),
        ("uncorrectable ECC error encountered", "device_lost", "checkpoint is kept"),
    ],
)
def test_what_cuda_complains_of_has_a_sentence_that_says_what_to_do(words, reason, advice):
    failure = failure_of(torch.AcceleratorError(f"CUDA error: {words}\nFor debugging ..."), INFO)
    assert (failure.reason, failure.is_known) == (reason, True)
    assert advice in failure.message


def test_other_failures_have_their_own_reasons():
    busy = failure_of(DeviceBusyError("The run a is training"), INFO)
    assert (busy.reason, busy.message, busy.exit_status) == (
        "device_busy",
        "The run a is training",
        EXIT_BUSY,
    )
    assert failure_of(RunStorageError(28, "Cannot write"), INFO).reason == "disk"
    assert failure_of(DeviceGoneError("no cuda"), INFO).reason == "device_gone"
    mistake = failure_of(ZeroDivisionError(), INFO)
    assert (mistake.reason, mistake.is_known) == ("error", False)
    assert not is_out_of_memory(RuntimeError("shapes do not match"))


FULL = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
ME, OTHER, OUTSIDE = os.getpid(), os.getppid(), 1 << 30  # no process has so high a number


def told(failure):
    return state_sentence(RunState(state="failed", message=failure.message, values=failure.values))


@pytest.mark.parametrize("also", [[(ME, 1 << 30)], []])
def test_out_of_memory_on_a_gpu_tells_who_else_holds_memory_there(gpus, also):
    gpus(GPU_a=2, processes=[*also, (OTHER, 30 << 30), (1, 40 << 30)])
    failure = failure_of(FULL, INFO)
    assert (failure.values["others"], failure.values["others_bytes"]) == (2, 70 << 30)
    assert "Other processes (2) hold 70.0 GiB of this GPU" in told(failure)


@pytest.mark.parametrize(
    "processes",
    [[], [(ME, 1 << 30)], [(ME, None), (OTHER, None)], [(OUTSIDE, 1 << 30), (OTHER, 1 << 30)]],
    ids=["nobody is told", "only this one", "no bytes are told", "numbers of another world"],
)
def test_others_are_not_told_where_there_are_none_or_nobody_can_tell(gpus, processes):
    gpus(GPU_a=2, processes=processes)
    failure = failure_of(FULL, INFO)
    assert "others" not in failure.values
    assert "Other processes" not in told(failure)


def test_memory_of_the_machine_that_ran_out_is_not_laid_to_the_gpu(gpus):
    gpus(GPU_a=2, processes=[(OTHER, 30 << 30)])
    assert "others" not in failure_of(MemoryError(), INFO).values


def test_a_library_that_breaks_off_does_not_keep_a_failure_from_being_told(fails):
    fails("core.train.worker.failures.visible_gpus", OSError("the driver is gone"))
    assert failure_of(FULL, INFO).reason == "out_of_memory"


def test_a_named_gpu_that_is_gone_ends_the_run_as_a_device_that_is_gone():
    failure = failure_of(NoSuchGpuError("gpu is '7'"), INFO)
    assert (failure.reason, failure.is_known) == ("device_gone", True)
    assert "nvidia-smi -L" in failure.message
