"""Which module an operation belongs to, forward and backward.

Forward, a hook before each module says its name. Backward, an operation belongs to the module that
saved the tensors it unpacks. (torch's ModuleTracker and FlopCounterMode lengthen tensors' lives.)
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from core.budget.simulation.tracker import StorageTracker


@contextmanager
def watch_modules(
    modules: Mapping[str, nn.Module],
    tracker: StorageTracker,
    on_progress: Callable[[str, str], None] = lambda _phase, _module: None,
) -> Iterator[None]:
    """Keep `tracker.module` at the name of the module that runs; tell phase and name of each."""
    handles = []
    for name, module in modules.items():
        parent = name.rpartition(".")[0]
        enter = partial(_enter, tracker, name, on_progress)
        handles.append(module.register_forward_pre_hook(enter))
        handles.append(module.register_forward_hook(partial(_leave, tracker, parent)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _enter(
    tracker: StorageTracker,
    name: str,
    on_progress: Callable[[str, str], None],
    *_hook_arguments: object,
) -> None:
    tracker.module = name
    on_progress(tracker.phase, name)


def _leave(tracker: StorageTracker, parent: str, *_hook_arguments: object) -> None:
    tracker.module = parent


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
