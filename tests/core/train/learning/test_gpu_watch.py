"""What a run says of its GPU, told by a made card: no machine of ours has one."""

import os
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch

from core.machine.nvml import Gpu, GpuProcess
from core.train.learning import memory_watch
from core.train.learning.memory_watch import watch_gpu
from core.units import GIB

CUDA = torch.device("cuda")
UUID = "0aa1b2c3-0000-1111-2222-333344445555"


def gpu(uuid=UUID, used=20, own=9, **other):
    """The card as NVML has it, in GiB: this process and one that nobody tells the bytes of."""
    mine = () if own is None else (GpuProcess(pid=os.getpid(), num_bytes=own * GIB),)
    usual = {"name": "NVIDIA H100 80GB HBM3", "is_slice": False, "utilization": 0.75}
    return Gpu(
        uuid=f"GPU-{uuid}",
        total_bytes=80 * GIB,
        used_bytes=used * GIB,
        processes=(GpuProcess(pid=1, num_bytes=None), *mine),
        **{**usual, **other},
    )


@pytest.fixture
def card(monkeypatch):
    """Return card(*gpus): torch is on a card of which it reserved 8 GiB; NVML knows these."""

    def install(*gpus):
        known = SimpleNamespace(uuid=UUID)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _device: known)
        monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _device: 8 * GIB)
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _device: (50 * GIB, 79 * GIB))
        monkeypatch.setattr(memory_watch, "visible_gpus", lambda: gpus)

    return install


def test_the_card_is_split_into_reserved_context_and_others(card):
    card(gpu())
    assert watch_gpu(CUDA) == {
        "reserved_bytes": 8 * GIB,
        "context_bytes": 1 * GIB,
        "other_bytes": 11 * GIB,
        "total_bytes": 80 * GIB,
        "utilization": 0.75,
    }


@pytest.mark.parametrize(
    ("own", "why"),
    [(None, "not listed"), (5, "less than torch holds: a pid of another namespace"), (21, "more")],
)
def test_where_this_process_is_not_told_apart_context_and_others_are_one(card, own, why):
    card(gpu(own=own))
    told = watch_gpu(CUDA)
    assert told["context_and_other_bytes"] == 12 * GIB, why
    assert not {"context_bytes", "other_bytes"} & set(told)


def test_without_nvml_cuda_itself_tells_what_is_used(card):
    card()
    assert watch_gpu(CUDA) == {
        "reserved_bytes": 8 * GIB,
        "context_and_other_bytes": (79 - 50 - 8) * GIB,
        "total_bytes": 79 * GIB,
    }


def test_of_several_cards_the_one_of_torch_is_asked(card):
    card(gpu("another", used=70), gpu(used=20))
    assert watch_gpu(CUDA)["other_bytes"] == 11 * GIB


def test_of_several_cards_none_is_guessed(card):
    card(gpu("another"), gpu("a-third"))
    assert watch_gpu(CUDA)["total_bytes"] == 79 * GIB
    assert "utilization" not in watch_gpu(CUDA)


def test_a_slice_does_not_tell_its_utilization(card):
    card(gpu("another", is_slice=True, utilization=None))
    assert watch_gpu(CUDA)["context_bytes"] == 1 * GIB
    assert "utilization" not in watch_gpu(CUDA)


@pytest.mark.parametrize("name", ["get_device_properties", "memory_reserved", "mem_get_info"])
def test_a_card_that_refuses_leaves_the_fields_out(card, monkeypatch, name):
    card()
    monkeypatch.setattr(torch.cuda, name, Mock(side_effect=RuntimeError("CUDA error")))
    assert watch_gpu(CUDA) == {}


@pytest.mark.parametrize("kind", ["cpu", "mps"])
def test_on_another_device_nobody_is_asked(fails, kind):
    fails("core.train.learning.memory_watch.visible_gpus", AssertionError("NVML was asked"))
    fails("torch.cuda.memory_reserved", AssertionError("CUDA was asked"))
    assert watch_gpu(torch.device(kind)) == {}
