"""One call, operator or index that gives a tensor: what the interpreter does, step by step."""

import ast
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import torch
from torch import Tensor

from core.expressions.error import Span
from core.expressions.signature import Call, Run

Value = Any  # Tensor, int, float, bool, None, Ellipsis, str, slice, a dtype, a format; or nested
T = TypeVar("T")


def _operators(*rows: tuple[T, str, Run], writes: bool = False) -> dict[T, Call]:
    return {
        node: Call(name=symbol, parameters=(), run=run, writes=writes) for node, symbol, run in rows
    }


BINARY: Final[dict[type[ast.operator], Call]] = _operators(
    (ast.Add, "+", operator.add),
    (ast.Sub, "-", operator.sub),
    (ast.Mult, "*", operator.mul),
    (ast.Div, "/", operator.truediv),
    (ast.FloorDiv, "//", operator.floordiv),
    (ast.Mod, "%", operator.mod),
    (ast.Pow, "**", operator.pow),
    (ast.MatMult, "@", operator.matmul),
    (ast.BitAnd, "&", operator.and_),
    (ast.BitOr, "|", operator.or_),
)
IN_PLACE: Final[dict[type[ast.operator], Call]] = _operators(
    (ast.Add, "+=", operator.iadd),
    (ast.Sub, "-=", operator.isub),
    (ast.Mult, "*=", operator.imul),
    (ast.Div, "/=", operator.itruediv),
    (ast.FloorDiv, "//=", operator.ifloordiv),
    (ast.Mod, "%=", operator.imod),
    (ast.Pow, "**=", operator.ipow),
    (ast.BitAnd, "&=", operator.iand),
    (ast.BitOr, "|=", operator.ior),
    writes=True,
) | {ast.MatMult: BINARY[ast.MatMult]}  # no tensor can hold its own product: `@=` makes a new one
COMPARISONS: Final[dict[type[ast.cmpop], Call]] = _operators(
    (ast.Eq, "==", operator.eq),
    (ast.NotEq, "!=", operator.ne),
    (ast.Lt, "<", operator.lt),
    (ast.LtE, "<=", operator.le),
    (ast.Gt, ">", operator.gt),
    (ast.GtE, ">=", operator.ge),
)
UNARY: Final[dict[type[ast.unaryop], Call]] = _operators(
    (ast.USub, "-", operator.neg), (ast.Invert, "~", operator.invert)
)
INDEX: Final = Call(name="[]", parameters=(), run=operator.getitem)
WRITE: Final = Call(name="[]=", parameters=(), run=operator.setitem, writes=True)
RESET: Final = Call(
    name=".grad = None", parameters=(), run=lambda x: setattr(x, "grad", None), is_stateful=True
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """A call with its arguments, ready to run."""

    call: Call  # the row of its table
    arguments: tuple[Value, ...]  # in the order of the row, a method's tensor first
    text: str  # the piece of the source up to and with it: "x.t().view(6)"
    span: Span  # where it stands, for errors

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors among the arguments, also those in lists and indices."""
        return tuple(tensors_in(self.arguments))

    @property
    def reads_values(self) -> bool:
        """Whether the shape of the result depends on values; `where` with no choice is nonzero."""
        is_choice = self.call.name == "torch.where" and self.arguments[1] is not None
        return self.call.reads_values and not is_choice

    def run(self, generator: torch.Generator | None) -> Value:
        """Do it, on the arguments as they are."""
        chance = (generator,) if self.call.is_random else ()
        return self.call.run(*self.arguments, *chance)


def tensors_in(value: Value) -> Iterator[Tensor]:
    """Yield the tensors of a value, however nested."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from tensors_in(each)
