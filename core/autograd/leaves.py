"""The tensors that a program begins with, as one line: "w = 2.0; b = 1.0; x = 3.0 (data)"."""

import ast
import math
import re
from collections.abc import Mapping
from typing import Final

import torch
from torch import Tensor

from core.expressions.limits import GRADIENTS
from core.language import _

MAX_ELEMENTS: Final = 64
MAX_LEAVES: Final = 12
DATA: Final = "(data)"
_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,15}")


def leaves_in(text: str) -> dict[str, Tensor]:
    """Return the tensors of a line by name; those marked "(data)" require no gradient.

    Whole numbers make integers only of data without a point: targets are written "k = 1 (data)".

    Raises:
        ValueError: If a part is no name and a number or list; the sentence names the part.
    """
    parts = [part.strip() for part in re.split(r"[;\n]", text) if part.strip()]
    if len(parts) > MAX_LEAVES:
        message = _("{count} tensors are more than the {limit} that can be shown.")
        raise ValueError(message.format(count=len(parts), limit=MAX_LEAVES))
    found: dict[str, Tensor] = {}
    for part in parts:
        name, x = _leaf_in(part)
        if name in found:
            raise ValueError(_("{name} is given twice").format(name=name))
        found[name] = x
    return found


def _leaf_in(part: str) -> tuple[str, Tensor]:
    is_data = part.endswith(DATA)
    name, equals, value = (word.strip() for word in part.removesuffix(DATA).partition("="))
    if not _NAME.fullmatch(name) or not equals:
        message = _("{part} cannot be read; write a name and a number or a list: w = 2.0.")
        raise ValueError(message.format(part=part))
    no_number = _("The value of {name} must be a number or a list of numbers, all rows alike.")
    try:
        tree = _WithInfinities().visit(ast.parse(value, mode="eval"))
        x = torch.tensor(ast.literal_eval(tree))
    except (ValueError, SyntaxError, TypeError, RuntimeError, RecursionError, MemoryError):
        raise ValueError(no_number.format(name=name)) from None
    if x.is_complex():
        raise ValueError(no_number.format(name=name))
    if x.numel() > MAX_ELEMENTS:
        message = _("{name} has {count} elements; at most {limit} can be typed in.")
        raise ValueError(message.format(name=name, count=x.numel(), limit=MAX_ELEMENTS))
    if x.ndim > GRADIENTS.rank:
        message = _("{name} has {count} dimensions; at most {limit} can be drawn.")
        raise ValueError(message.format(name=name, count=x.ndim, limit=GRADIENTS.rank))
    return name, x if is_data else x.float().requires_grad_()


class _WithInfinities(ast.NodeTransformer):
    """Makes numbers of the names inf and nan."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(float(node.id)) if node.id in {"inf", "nan"} else node


def written_leaves(leaves: Mapping[str, Tensor]) -> str:
    """Return the line that `leaves_in` reads."""
    return "; ".join(
        f"{name} = {_written(x.tolist())}{'' if x.requires_grad else f' {DATA}'}"
        for name, x in leaves.items()
    )


def _written(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.7g}" if "e" in f"{value:.7g}" or "." in f"{value:.7g}" else f"{value:.1f}"
    return str(value)
