"""What a captured node saved, as numpy arrays and Python values that a formula can compute with."""

import ast
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from core.autograd.graph import Node, TensorInfo

Values: TypeAlias = Mapping[str, Any]

_HALF: Final = 2**63  # torch writes a negative axis as an unsigned number: -1 is 2**64 - 1
_WORDS: Final = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def array_of(tensor: TensorInfo | None) -> Any:  # noqa: ANN401  an array, or None
    """Return a tensor's values: float64, or bool of a mask; None if they were not kept."""
    if tensor is None or tensor.values is None:
        return None
    kind = "bool" if tensor.dtype == "bool" else "int64" if "int" in tensor.dtype else "float64"
    return np.asarray(tensor.values, dtype=kind).reshape(tensor.shape)


def attribute_of(text: str) -> Any:  # noqa: ANN401  a number, a tuple, a word, or None
    """Return what an attribute's text stands for.

    >>> attribute_of("(0, 18446744073709551615)"), attribute_of("2.0"), attribute_of("tanh")
    ((0, -1), 2.0, 'tanh')
    """
    if text in _WORDS:
        return _WORDS[text]
    try:
        return _signed(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


def _signed(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list | tuple):
        return tuple(_signed(each) for each in value)
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value - 2 * _HALF if is_count and value >= _HALF else value


def node_values(node: Node) -> Values:
    """Return by name what a node saved and which attributes it has.

    Tensors whose values were not kept are left out. Tensors of a list, named "indices[0]" and so
    on, become one tuple.
    """
    values: dict[str, Any] = {name: attribute_of(text) for name, text in node.attributes.items()}
    lists: dict[str, list[Any]] = defaultdict(list)
    for each in node.saved:
        array = array_of(each.tensor)
        if array is not None and "[" in each.name:
            lists[each.name.partition("[")[0]].append(array)
        elif array is not None:
            values[each.name] = array
    return values | {name: tuple(arrays) for name, arrays in lists.items()}
