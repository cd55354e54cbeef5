"""One call, operator or index that gives a tensor: what the interpreter does, step by step."""

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.error import Span
from core.expressions.signature import Call

Value = Any  # Tensor, int, float, bool, None, Ellipsis, str, slice, a dtype, a format; or nested
INDEX: Final = Call(name="[]", parameters=(), run=lambda x, index: x[index])
WRITE: Final = Call(
    name="[]=",
    parameters=(),
    run=lambda x, index, value: x.__setitem__(index, value),
    writes=True,
)

RESET: Final = Call(
    name=".grad = None",
    parameters=(),
    run=lambda x: setattr(x, "grad", None),
    is_stateful=True,
)


def _operator(symbol: str, run: Callable[..., Any], *, writes: bool = False) -> Call:
    return Call(name=symbol, parameters=(), run=run, writes=writes)


BINARY: Final[dict[type[ast.operator], Call]] = {
    ast.Add: _operator("+", lambda x, y: x + y),
    ast.Sub: _operator("-", lambda x, y: x - y),
    ast.Mult: _operator("*", lambda x, y: x * y),
    ast.Div: _operator("/", lambda x, y: x / y),
    ast.FloorDiv: _operator("//", lambda x, y: x // y),
    ast.Mod: _operator("%", lambda x, y: x % y),
    ast.Pow: _operator("**", lambda x, y: x**y),
    ast.MatMult: _operator("@", lambda x, y: x @ y),
    ast.BitAnd: _operator("&", lambda x, y: x & y),
    ast.BitOr: _operator("|", lambda x, y: x | y),
}
IN_PLACE: Final[dict[type[ast.operator], Call]] = {
    ast.Add: _operator("+=", operator.iadd, writes=True),
    ast.Sub: _operator("-=", operator.isub, writes=True),
    ast.Mult: _operator("*=", operator.imul, writes=True),
    ast.Div: _operator("/=", operator.itruediv, writes=True),
}
COMPARISONS: Final[dict[type[ast.cmpop], Call]] = {
    ast.Eq: _operator("==", lambda x, y: x == y),
    ast.NotEq: _operator("!=", lambda x, y: x != y),
    ast.Lt: _operator("<", lambda x, y: x < y),
    ast.LtE: _operator("<=", lambda x, y: x <= y),
    ast.Gt: _operator(">", lambda x, y: x > y),
    ast.GtE: _operator(">=", lambda x, y: x >= y),
}
UNARY: Final[dict[type[ast.unaryop], Call]] = {
    ast.USub: _operator("-", lambda x: -x),
    ast.Invert: _operator("~", lambda x: ~x),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """A call with its arguments, ready to run.

    Attributes:
        call: The row of its table.
        arguments: In the order of the row, a method's tensor first.
        text: The piece of the source up to and with it: "x.t().view(6)".
        span: Where it stands, for errors.
    """

    call: Call
    arguments: tuple[Value, ...]
    text: str
    span: Span

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors among the arguments, also those in lists and indices."""
        return tuple(tensors_in(self.arguments))

    def run(self, generator: torch.Generator | None) -> Value:
        """Do it, on the arguments as they are."""
        chance = (generator,) if self.call.is_random else ()
        return self.call.run(*self.arguments, *chance)


def tensors_in(value: Value) -> Iterator[Tensor]:
    """Yield the tensors of a value, however nested."""
    if isinstance(value, Tensor):
        yield value
    elif type(value) in {tuple, list}:
        for each in value:
            yield from tensors_in(each)
