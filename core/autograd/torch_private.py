"""What only torch's private names tell: sequence numbers, raw saved tensors, the engine's plan.

The only file that uses them; tests/core/autograd/test_torch_private.py looks whether this torch
still has them.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import Node as TorchNode

from core.expressions.dispatch import Watching, storage_id, unwatched


def sequence_number() -> int:
    """Return the number that the next node made in this thread will have."""
    return int(torch.autograd._get_sequence_nr())  # type: ignore[attr-defined]


def sequence_of(node: TorchNode) -> int:
    """Return a node's number: the engine takes the highest one that is ready."""
    return int(node._sequence_nr())


def outputs_of(node: TorchNode) -> list[tuple[int, ...]]:
    """Return the shapes of what a node's operation gave."""
    return [tuple(each.shape) for each in node._input_metadata]


def like_output(node: TorchNode) -> Tensor:
    """Return an empty tensor of the dtype and device of a node's first output."""
    first = node._input_metadata[0]
    return torch.empty(0, dtype=first.dtype, device=first.device)


def running_node() -> TorchNode | None:
    """Return the node that the engine runs in this thread."""
    node: TorchNode | None = torch._C._current_autograd_node()
    return node


def planned_order() -> list[TorchNode]:
    """Return the order that the engine has planned; ask inside a hook, on one thread."""
    return list(torch._C._current_graph_task_execution_order())  # type: ignore[attr-defined]


def leaf_tensor(node: TorchNode) -> Tensor | None:
    """Return the tensor whose gradient an `AccumulateGrad` adds up; None of any other node."""
    tensor: Tensor | None = getattr(node, "variable", None)
    return tensor


@cache
def _names(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the attributes of a node's type that hold saved tensors, and those of other things."""
    words = dir(kind)
    tensors = tuple(word for word in words if word.startswith("_raw_saved_"))
    held = {word.removeprefix("_raw_saved_") for word in tensors}
    others = (word for word in words if word.startswith("_saved_"))
    return tensors, tuple(word for word in others if word.removeprefix("_saved_") not in held)


@dataclass(slots=True)
class Seen:
    """In place of a raw saved tensor whose end torch does not show: what it holds, or None."""

    data: Any


def hides_saved(node: TorchNode) -> bool:
    """Whether a node stands for a write into a view, which keeps its tensors out of sight."""
    return type(node).__name__ == "CopySlices"


def raw_saved(node: TorchNode) -> Iterator[tuple[str, Any]]:
    """Yield name and raw saved tensor; reading these never unpacks, so nothing is recomputed.

    A write into a view keeps its tensors within a node that hides them: they are seen when it runs.
    """
    if hides_saved(node):
        for at, x in enumerate(_read_in_backward(node)):
            yield f"saved[{at}]", Seen(x)
    for word in _names(type(node))[0]:
        try:
            held = getattr(node, word)
        except RuntimeError:  # freed by an earlier backward
            continue
        name = word.removeprefix("_raw_saved_")
        if isinstance(held, tuple | list):  # when they are freed, these raw ones point to nothing
            yield from ((f"{name}[{at}]", Seen(each.data)) for at, each in enumerate(held))
        elif held is not None:
            yield name, held


def _read_in_backward(node: TorchNode) -> list[Tensor]:
    """Return what a node reads besides its gradient, found by running it once, for nobody."""
    gradient = torch.zeros(outputs_of(node)[0]).to(like_output(node))
    made, found = {storage_id(gradient): gradient}, dict[int, Tensor]()

    def tell(_func: object, inputs: Sequence[Tensor], outputs: Sequence[Tensor], _: int) -> None:
        found.update((storage_id(x), x) for x in inputs if storage_id(x) not in made)
        made.update((storage_id(x), x) for x in outputs if storage_id(x) not in found)

    # It raises where it was freed, or what it keeps was overwritten.
    with suppress(RuntimeError), unwatched(), torch.no_grad(), Watching(tell, count_flops=False):
        node(gradient)  # type: ignore[operator]
    return list(found.values())


def kept_of(raw: Any) -> tuple[Tensor | None, bool]:  # noqa: ANN401
    """Return the tensor that a raw saved one holds, and whether a hook packed it instead."""
    held = raw.data
    if isinstance(held, Tensor):
        return held, False
    return None, held is not None


def attributes_of(node: TorchNode) -> dict[str, str]:
    """Return what a node keeps besides tensors, as text: {"dim": "1"}."""
    told = {}
    for word in _names(type(node))[1]:
        try:
            value = getattr(node, word)
        except RuntimeError:
            continue
        if value is not None and not isinstance(value, Tensor):
            told[word.removeprefix("_saved_")] = _text(value)
    return told


def _text(value: Any) -> str:  # noqa: ANN401
    """Return a value as text; torch keeps -1 as an unsigned number."""
    return re.sub(r"\d{20}", lambda found: str(int(found[0]) - 2**64), str(value))


def load_compiler() -> None:
    """Import what torch loads at its first operation on meta: 800 modules, a second or more."""
    import torch._dynamo  # noqa: F401
