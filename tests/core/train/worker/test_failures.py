from unittest.mock import Mock

import numpy as np
import pytest
import torch

from core.train.control.device import DeviceBusyError
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
    ],
    ids=["torch on a CPU", "numpy", "CUDA", "MPS"],
)
def test_every_allocators_refusal_is_known_as_out_of_memory(allocate):
    with pytest.raises((RuntimeError, MemoryError), match=r"(?i)memory|allocate") as raised:
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


def test_other_failures_have_their_own_reasons():
    busy = failure_of(DeviceBusyError("The run a is training"), INFO)
    assert (busy.reason, busy.message, busy.exit_status) == (
        "device_busy",
        "The run a is training",
        EXIT_BUSY,
    )
    assert failure_of(RunStorageError(28, "Cannot write"), INFO).reason == "disk"
    mistake = failure_of(ZeroDivisionError(), INFO)
    assert (mistake.reason, mistake.is_known) == ("error", False)
    assert not is_out_of_memory(RuntimeError("shapes do not match"))
