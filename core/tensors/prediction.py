"""What each call of a program is predicted to do: its rule, by its name in PyTorch.

Why apart: a table of rules by torch's names, read in tests against torch row by row.
"""

from collections.abc import Callable, Mapping
from typing import Final

from core.expressions.signature import as_tuple
from core.tensors import rules
from core.tensors.layout import Layout, cloned
from core.tensors.rules import Predicted


def _as_view(rule: Callable[..., Layout]) -> Callable[..., Predicted]:
    return lambda x, *arguments: Predicted("view", rule(x, *arguments))


def _indexed(x: Layout, items: object) -> Predicted | None:
    found = rules.index(x, items)
    return None if found is None else Predicted("view", found)


def _viewed(x: Layout, shape: object) -> Predicted | None:
    if type(shape) is not tuple:
        return None  # a dtype
    found = rules.view(x, shape)
    return None if found is None else Predicted("view", found)


RULES: Final[Mapping[str, Callable[..., Predicted | None]]] = {
    "view": _viewed,
    "reshape": rules.reshape,
    "flatten": rules.flatten,
    "ravel": rules.ravel,
    "transpose": _as_view(rules.transpose),
    "swapaxes": _as_view(rules.transpose),
    "swapdims": _as_view(rules.transpose),
    "t": _as_view(rules.t),
    "T": _as_view(lambda x: rules.permute(x, range(x.ndim)[::-1])),
    "mT": lambda x: (
        Predicted("view", rules.transpose(x, -2, -1)) if x.ndim else Predicted("same", x)
    ),
    "permute": _as_view(rules.permute),
    "movedim": lambda x, source, destination: (
        Predicted("view", rules.movedim(x, source, destination))
        if isinstance(source, int)
        else None
    ),
    "unsqueeze": _as_view(rules.unsqueeze),
    "squeeze": _as_view(lambda x, dims: rules.squeeze(x, None if dims is None else as_tuple(dims))),
    "expand": _as_view(rules.expand),
    "broadcast_to": _as_view(rules.expand),
    "select": _as_view(rules.select),
    "narrow": _as_view(rules.narrow),
    "diagonal": _as_view(rules.diagonal),
    "unfold": _as_view(rules.unfold),
    "contiguous": lambda x, memory_format: (
        rules.as_contiguous(x) if memory_format is None else None
    ),
    "clone": lambda x, memory_format: (
        Predicted("copy", cloned(x)) if memory_format is None else None
    ),
    "repeat": rules.repeat,
    "[]": _indexed,
}
