"""Which storages are born and die in a step, and which module each operation belongs to.

Forward, a hook before each module says its name. Backward, an operation belongs to the module that
saved the tensors it unpacks. (torch's ModuleTracker and FlopCounterMode lengthen tensors' lives.)
"""

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode

from core.budget.simulation.timeline import (
    BACKWARD,
    FORWARD,
    GRADIENT,
    SAVED,
    TEMPORARY,
    Allocation,
    StepEvent,
    StepTimeline,
)

_ADD: Final = torch.ops.aten.add.Tensor
_Call = tuple[Any, ...]  # an operation and what it sees of its arguments
_Result = tuple[tuple[int, ...], tuple[int, ...], torch.dtype]
_IN_PLACE: Final = ((), (), torch.uint8)  # what it returns is its first argument
_OWNERS: Final = 4  # of a tensor that waits for a second gradient and is seen by a mode: no others


class StorageTracker(TorchDispatchMode):
    """Counts the bytes of every storage born inside it, on meta, CPU or GPU tensors.

    What exists before (weights, optimizer states, inputs) must be passed to `ignore`, or in-place
    operations on it would count it as new. Attributes `phase` and `module` label the events.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own
        self.phase, self.module = FORWARD, ""
        self.live = 0
        self._events: list[StepEvent] = []
        self._born: list[tuple[int, int]] = []  # bytes and event of each allocation
        self._died: dict[int, int] = {}
        self._kinds: dict[int, str] = {}
        self._savers: dict[int, str] = {}
        self._alive: dict[int, int] = {}  # storage -> allocation; -1 lived before
        self._watchers: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self._results: dict[_Call, _Result] = {}

    def ignore(self, tensors: Iterable[Tensor]) -> int:
        """Leave out what lives already; return its bytes, each storage once."""
        num_bytes = 0
        for tensor in tensors:
            storage = tensor.untyped_storage()
            if storage._cdata not in self._alive:
                self._alive[storage._cdata] = -1
                num_bytes += storage.nbytes()
        return num_bytes

    def mark_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Note that the parameters' `grad` are gradients; a sum in place keeps its storage."""
        for each in parameters:
            if each.grad is not None:
                self._mark(self._alive.get(each.grad.untyped_storage()._cdata, -1), GRADIENT)

    def mark_saved(self) -> None:
        """Note that what is alive now waits for the backward pass."""
        for allocation in self._alive.values():
            self._mark(allocation, SAVED)

    def note_saver(self, tensor: Tensor) -> None:
        """Note that the present module saves a tensor for its backward pass."""
        allocation = self._alive.get(tensor.untyped_storage()._cdata, -1)
        if allocation >= 0:
            self._savers.setdefault(allocation, self.module)

    def _mark(self, allocation: int, kind: str) -> None:
        if allocation >= 0:
            self._kinds.setdefault(allocation, kind)

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Label what runs inside."""
        before, self.phase = self.phase, phase
        try:
            yield
        finally:
            self.phase = before

    def timeline(self, base: Mapping[str, int]) -> StepTimeline:
        """Return what was seen, with what lived before in `base` (bytes by name)."""
        end, persistent = len(self._events), sum(base.values())
        allocations = tuple(
            Allocation(
                num_bytes,
                born,
                self._died.get(i, end),
                self._kinds.get(i, TEMPORARY),
                self._savers.get(i, ""),
            )
            for i, (num_bytes, born) in enumerate(self._born)
        )
        events = tuple(event._replace(live=event.live + persistent) for event in self._events)
        return StepTimeline(events=events, allocations=allocations, base=base)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,  # noqa: ANN401  as torch declares it
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever the operation returns
        before = len(self._born), self.live
        if func is _ADD and self.phase == BACKWARD and _sums_in_place(*args, **(kwargs or {})):
            out = args[0].add_(args[1])
        else:
            out = self._run(func, args, kwargs or {})
        if isinstance(out, Tensor):
            self._see(out)
        elif isinstance(out, tuple | list):
            for each in out:
                if isinstance(each, Tensor):
                    self._see(each)
        if (len(self._born), self.live) != before:
            name = str(func).rpartition(".")[0]
            self._events.append(StepEvent(name, self.module, self.phase, self.live))
        return out

    def _run(self, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:  # noqa: ANN401  as above
        """Run the operation, or make what it made of equal tensors without data.

        Layers are alike, and torch works out in Python what most operations on meta tensors return.
        """
        try:
            call = (func, *map(_described, args), *map(_described, kwargs.items()))
            known = self._results.get(call)
        except TypeError:  # something on real data, or that cannot be a key
            return func(*args, **kwargs)
        if known == _IN_PLACE:
            return args[0]
        if known:
            return torch.empty_strided(known[0], known[1], dtype=known[2], device="meta")
        out = func(*args, **kwargs)
        if args and out is args[0] and _described(out) == call[1]:
            self._results[call] = _IN_PLACE
        elif isinstance(out, Tensor) and out.is_meta and self._is_new(out):
            self._results[call] = (tuple(out.shape), out.stride(), out.dtype)
        return out

    def _is_new(self, tensor: Tensor) -> bool:
        """Whether a tensor fills a storage of its own that nobody has seen."""
        storage = tensor.untyped_storage()
        num_bytes = tensor.numel() * tensor.element_size()
        return storage._cdata not in self._alive and storage.nbytes() == num_bytes > 0

    def _see(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._alive:
            return
        num_bytes = storage.nbytes()
        if num_bytes:
            self._alive[key] = len(self._born)
            self._born.append((num_bytes, len(self._events)))
            self._watchers[key] = weakref.ref(storage, partial(self._free, key))
            self.live += num_bytes

    def _free(self, key: int, _storage: object) -> None:
        allocation = self._alive.pop(key)
        self.live -= self._born[allocation][0]
        self._died[allocation] = len(self._events)
        del self._watchers[key]


def _described(value: Any) -> Any:  # noqa: ANN401  whatever an operation takes
    """Return what an operation sees of an argument; numbers with their type: 1 is not 1.0.

    Raises:
        TypeError: If the argument has data, or is a number in a tensor, which counts as either.
    """
    if isinstance(value, Tensor):
        if not value.is_meta or not value.dim():
            raise TypeError("this operation may look at data")
        return (value.shape, value.stride(), value.dtype, value.requires_grad)
    if isinstance(value, tuple | list):
        return tuple(map(_described, value))
    return (type(value), value)


def _sums_in_place(first: Tensor, second: object, **options: object) -> bool:
    """Whether autograd would sum two gradients in place, were there no dispatch mode.

    Under a mode its engine takes every tensor for a subclass and always makes a third
    (torch/csrc/autograd/input_buffer.cpp, can_accumulate_inplace).
    """
    return (
        not options
        and torch._C._current_autograd_node() is not None
        and isinstance(second, Tensor)  # a block that is computed again may add a number
        and first.shape == second.shape
        and first._use_count() == _OWNERS  # type: ignore[attr-defined]  # not in torch's stubs
        and torch._C._storage_Use_Count(first.untyped_storage()._cdata) == 2
        and torch.ops.aten.is_non_overlapping_and_dense(first)
    )


@contextmanager
def watch_modules(
    modules: Mapping[str, nn.Module],
    tracker: StorageTracker,
    on_progress: Callable[[str, str], None] = lambda _phase, _module: None,
) -> Iterator[None]:
    """Keep `tracker.module` at the name of the module that runs; tell phase and name of each."""

    def enter(name: str, *_hook_arguments: object) -> None:
        tracker.module = name
        on_progress(tracker.phase, name)

    def leave(parent: str, *_hook_arguments: object) -> None:
        tracker.module = parent

    handles = []
    for name, module in modules.items():
        parent = name.rpartition(".")[0]
        handles.append(module.register_forward_pre_hook(partial(enter, name)))
        handles.append(module.register_forward_hook(partial(leave, parent)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def watch_saved(tracker: StorageTracker) -> saved_tensors_hooks:
    """Return a context that notes who saves a tensor; who unpacks it then runs in that module."""

    def pack(tensor: Tensor) -> tuple[Tensor, str]:
        tracker.note_saver(tensor)
        # an output saved by its own node would keep itself alive through its grad_fn
        return tensor.detach(), tracker.module

    def unpack(packed: tuple[Tensor, str]) -> Tensor:
        tensor, tracker.module = packed
        return tensor

    return saved_tensors_hooks(pack, unpack)
