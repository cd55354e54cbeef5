"""Where the bytes of one training step are: watched, not computed.

Every tensor that an operation creates goes through a dispatch mode, which notes when its storage
appears and when it dies; autograd's hooks tell which of them wait for the backward pass. What each
storage was is decided at the end, when gradients and optimizer states are known by name.
"""

import os
import weakref
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from core.machine.nvml import Gpu, visible_gpus
from core.train.config import JSON


@dataclass(frozen=True, kw_only=True, slots=True)
class StepMemory:
    """Bytes of one step by category: weights, gradients and optimizer as held at its end.

    Attributes:
        activations: The most that autograd kept for the backward pass at one time.
        other: The most that everything else held at one time: temporaries and the text.
        peak: The most that all tensors held at one time; on CUDA as the allocator says it.
    """

    weights: int
    gradients: int
    optimizer: int
    activations: int
    other: int
    peak: int
    source: str

    def to_json(self) -> JSON:
        """Return plain data for an event."""
        return {name: getattr(self, name) for name in self.__slots__}


class MemoryWatch:
    """A context that watches one step; `result` holds the bytes afterwards.

    `held` are further tensors that live on the device all the time, such as the text.
    """

    result: StepMemory

    def __init__(self, model: nn.Module, optimizer: Optimizer, held: Iterable[Tensor] = ()) -> None:
        self._model = model
        self._optimizer = optimizer
        self._ledger = _Ledger()
        self._held = [*held, *self._weights(), *self._states()]
        self._stack = ExitStack()
        self._old_gradients: set[int] = set()

    def __enter__(self) -> Self:
        self._ledger.numbers(self._held)
        self._old_gradients = self._ledger.numbers(self._gradients())
        if self._on_cuda():  # a run on the CPU leaves the GPU alone
            torch.cuda.reset_peak_memory_stats()
        hooks = torch.autograd.graph.saved_tensors_hooks(self._save, lambda tensor: tensor)
        self._stack.enter_context(hooks)
        self._stack.enter_context(_Births(self._ledger))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()
        self._ledger.closed = True
        if error is None:
            self.result = self._account()

    def _save(self, tensor: Tensor) -> Tensor:
        number = self._ledger.note(tensor)
        whole = tensor if tensor._base is None else tensor._base
        if not (whole.is_leaf and whole.requires_grad):  # a weight that was gathered from all ranks
            self._ledger.saved.add(number)
        # A node that saves its own output would keep itself alive through that output's history.
        return tensor.detach()

    def _account(self) -> StepMemory:
        ledger = self._ledger
        weights = ledger.numbers(self._weights())
        gradients = ledger.numbers(self._gradients()) - weights
        optimizer = ledger.numbers(self._states()) - weights - gradients
        activations = ledger.saved - weights - gradients - optimizer
        everything = set(ledger.sizes)
        named = weights | gradients | optimizer | activations | self._old_gradients
        on_cuda = self._on_cuda()
        return StepMemory(
            weights=ledger.total(weights),
            gradients=ledger.total(gradients),
            optimizer=ledger.total(optimizer),
            activations=ledger.peak(activations),
            other=ledger.peak(everything - named),
            peak=torch.cuda.max_memory_allocated() if on_cuda else ledger.peak(everything),
            source="allocator" if on_cuda else "tensors",
        )

    def _on_cuda(self) -> bool:
        return next(self._model.parameters()).is_cuda

    def _weights(self) -> list[Tensor]:
        return list(self._model.parameters())

    def _gradients(self) -> list[Tensor]:
        return [weight.grad for weight in self._model.parameters() if weight.grad is not None]

    def _states(self) -> list[Tensor]:
        states = self._optimizer.state.values()
        return [value for state in states for value in state.values() if torch.is_tensor(value)]


class _Ledger:
    """Births and deaths of storages, each under a number of its own."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}  # number -> bytes
        self.saved: set[int] = set()  # what autograd keeps for the backward pass
        self.closed = False
        self._alive: dict[int, tuple[int, weakref.ref[Any]]] = {}  # address -> number, storage
        self._log: list[tuple[int, int]] = []  # (number, +1 born or -1 dead), in order

    def note(self, tensor: Tensor) -> int:
        """Return the number of the tensor's storage, written down if it is new."""
        # Of a tensor that is cut over several ranks, the piece here.
        storage = getattr(tensor, "_local_tensor", tensor).untyped_storage()
        address = storage._cdata
        if address in self._alive:
            return self._alive[address][0]
        number = len(self.sizes)
        self.sizes[number] = storage.nbytes()
        self._log.append((number, +1))

        def died(_reference: object) -> None:
            self._alive.pop(address, None)
            if not self.closed:
                self._log.append((number, -1))

        self._alive[address] = (number, weakref.ref(storage, died))
        return number

    def numbers(self, tensors: Iterable[Tensor]) -> set[int]:
        """Return the numbers of the tensors' storages."""
        return {self.note(tensor) for tensor in tensors}

    def total(self, numbers: set[int]) -> int:
        """Return the bytes of those storages."""
        return sum(self.sizes[number] for number in numbers)

    def peak(self, numbers: set[int]) -> int:
        """Return the most bytes that those storages held at one time."""
        now = most = 0
        for number, change in self._log:
            if number in numbers:
                now += change * self.sizes[number]
                most = max(most, now)
        return most


class _Births(TorchDispatchMode):
    """Notes the storage of everything that an operation returns."""

    def __init__(self, ledger: _Ledger) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._ledger = ledger

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: Any = (),  # noqa: ANN401
        kwargs: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self._ledger.note(leaf)
        return result


def watch_gpu(device: torch.device) -> JSON:
    """Return what a memory event says of the GPU now; nothing where torch's device is none.

    reserved_bytes: What torch's allocator holds of the card, in use or kept for later.
    context_bytes: What else this process holds: CUDA's context, its kernels, its libraries.
    other_bytes: What other processes and the driver hold.
    context_and_other_bytes: The last two as one, where NVML does not tell this process's bytes.
    total_bytes: All that the card has.
    utilization: Share of NVML's last sampling period in which a kernel ran, from 0 to 1; left out
        where there is no NVML, and on a slice of a card.
    """
    if device.type != "cuda":
        return {}
    try:
        gpu = _in_nvml(device)
        reserved = torch.cuda.memory_reserved(device)
        free, total = (gpu.free_bytes, gpu.total_bytes) if gpu else torch.cuda.mem_get_info(device)
    except RuntimeError:  # what it told is not worth the run, which finds out itself if it is lost
        return {}
    around = _around(reserved, total - free, _own_bytes(gpu))
    told = {"reserved_bytes": reserved, **around, "total_bytes": total}
    busy = gpu.utilization if gpu else None
    return told if busy is None else {**told, "utilization": busy}


def _around(reserved: int, used: int, own: int | None) -> JSON:
    """Return what the allocator does not hold of the bytes that are used."""
    if own is None or not reserved <= own <= used:  # in a container a pid is another's outside
        return {"context_and_other_bytes": max(used - reserved, 0)}
    return {"context_bytes": own - reserved, "other_bytes": used - own}


def _own_bytes(gpu: Gpu | None) -> int | None:
    mine = [each.num_bytes for each in gpu.processes if each.pid == os.getpid()] if gpu else []
    return mine[0] if mine else None


def _in_nvml(device: torch.device) -> Gpu | None:
    """Return the device as NVML knows it: by its uuid, which torch writes without its prefix."""
    gpus = visible_gpus()
    uuid = str(torch.cuda.get_device_properties(device).uuid)
    named = [gpu for gpu in gpus if gpu.uuid.endswith(uuid)]
    if not named and len(gpus) == 1:
        return gpus[0]
    return named[0] if named else None
