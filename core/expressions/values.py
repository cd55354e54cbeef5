"""What values are called, and what can be done with those that are no tensors."""

import ast
import math
from collections.abc import Sequence
from types import EllipsisType

from torch import Tensor

from core.expressions.error import ExpressionError, Span
from core.expressions.limits import INT64, MAX_LEVELS, MAX_VALUES
from core.expressions.operation import BINARY, Value
from core.language import _


def kind_of(value: Value) -> str:
    """Return what a value is, in the reader's language."""
    if type(value) in {tuple, list}:
        return _("a list of {count}").format(count=len(value)) if value else _("a list")
    words = {
        Tensor: _("a tensor"),
        int: _("an integer"),
        float: _("a number"),
        bool: _("True or False"),
        str: _("a string"),
        type(None): "None",
        EllipsisType: "...",
        slice: _("a slice"),
    }
    return words.get(type(value), _("a name from PyTorch"))


def is_index(value: Value) -> bool:
    """Whether it may stand alone in the brackets behind a tensor."""
    if type(value) is list:
        return all(type(each) in {int, bool} or type(each) is list for each in value)
    if type(value) is Tensor:
        return not value.is_floating_point()
    return value is None or type(value) in {int, bool, EllipsisType, slice}


def check_list(items: Sequence[Value], node: ast.expr) -> None:
    """Count what a new list holds: names in lists multiply, and every later walk goes through all.

    Raises:
        ExpressionError: If it holds more values, or more lists in each other, than allowed.
    """
    count, waiting = 0, [(items, 1)]
    while waiting:
        values, level = waiting.pop()
        count += len(values)
        if count > MAX_VALUES:
            message = _("A list may hold at most {limit} values, with those of the lists in it.")
            raise ExpressionError(message.format(limit=f"{MAX_VALUES:,}"), Span.of(node))
        if level > MAX_LEVELS:
            message = _("Lists may be nested at most {limit} deep.").format(limit=MAX_LEVELS)
            raise ExpressionError(message, Span.of(node))
        waiting += [(each, level + 1) for each in values if type(each) in {tuple, list}]


def calculated(node: ast.BinOp | ast.AugAssign, left: float, right: float) -> int | float:
    """Return the result of plain arithmetic on sizes.

    Raises:
        ExpressionError: If it has none, or one beyond int64 that no infinity led to.
    """
    if not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)):
        message = _("Between numbers, only +, -, *, /, // and % are supported.")
        raise ExpressionError(message, Span.of(node))
    try:
        result: int | float = BINARY[type(node.op)].run(left, right)
    except (ZeroDivisionError, OverflowError):
        result = math.inf
    is_given = not (math.isfinite(left) and math.isfinite(right))  # as torch.inf
    if is_given or (math.isfinite(result) and abs(result) <= INT64):
        return result
    raise ExpressionError(_("This divides by zero, or its result is too large."), Span.of(node))


def item_of(value: Value, place: Value, node: ast.expr) -> Value:
    """Return an item or a part of a list.

    Raises:
        ExpressionError: If it is no list, the place is not in it, or a slice has the step 0.
    """
    if type(value) not in {tuple, list} or type(place) not in {int, slice}:
        message = _("Only tensors and lists can be indexed, not {what}.").format(
            what=kind_of(value)
        )
        raise ExpressionError(message, Span.of(node))
    try:
        return value[place]
    except IndexError:
        message = _("Index {index} is out of range: the list has {count} items.")
        counts = {"count": len(value), "index": place}
        raise ExpressionError(message.format(**counts), Span.of(node)) from None
    except ValueError:
        raise ExpressionError(_("The step of a slice cannot be 0."), Span.of(node)) from None
