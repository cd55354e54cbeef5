"""Formulas that give a number and can show themselves with the numbers put in."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

Number = int | float
_Rule = Callable[[Mapping[str, Number]], Number]

_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Number, Number], Number]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_NAME = re.compile(r"[A-Za-z_]\w*")


class Formula:
    """Arithmetic in named quantities: `+ - * / // **`, brackets, numbers and names.

    The text that a reader sees is the very rule that gives the number.

    >>> six_nd = Formula("6 * num_params * num_tokens")
    >>> six_nd(num_params=7, num_tokens=100), six_nd.substituted(num_params=7, num_tokens=1000)
    (4200, '6 * 7 * 1,000')
    """

    __slots__ = ("_rule", "text")

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self._rule = _compile(self.text)

    def __call__(self, **values: Number) -> Number:
        """Return the number.

        Raises:
            KeyError: If a name of the formula has no value.
        """
        return self._rule(values)

    def substituted(self, **values: Number) -> str:
        """Return the formula with each name replaced by its number."""
        return _NAME.sub(lambda match: _written(values[match[0]]), self.text)


def _written(value: Number) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


@cache
def _compile(text: str) -> _Rule:
    return _rule(ast.parse(text, mode="eval").body)


def _rule(node: ast.expr) -> _Rule:
    match node:
        case ast.Constant(value=int() | float() as constant):
            return lambda _values: constant
        case ast.Name(id=name):
            return lambda values: values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            apply, first, second = _OPERATORS[type(op)], _rule(left), _rule(right)
            return lambda values: apply(first(values), second(values))
    raise ValueError(f"a formula holds + - * / // ** and names, not {ast.unparse(node)!r}")
