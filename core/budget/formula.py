"""Formulas that give a number and can show themselves with the numbers put in."""

import ast
import math
import re
from collections.abc import Mapping
from functools import cache
from types import CodeType
from typing import Any, Final, cast

Number = int | float

_OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.USub)
_FUNCTIONS: Final[Mapping[str, Any]] = {"ceil": math.ceil, "max": max, "min": min}
_NAME = re.compile(r"[A-Za-z_]\w*")


class Formula:
    """Arithmetic in named quantities: `+ - * / // **`, brackets, numbers, names, ceil, min, max.

    The text that a reader sees is the very rule that gives the number.

    >>> six_nd = Formula("6 * num_params * num_tokens")
    >>> six_nd(num_params=7, num_tokens=100), six_nd.substituted(num_params=7, num_tokens=1000)
    (4200, '6 * 7 * 1,000')
    """

    __slots__ = ("_code", "text")

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self._code = _compile(self.text)

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def __call__(self, **values: Number) -> Number:
        """Return the number.

        Raises:
            KeyError: If a name of the formula has no value.
        """
        return self.of(values)

    def of(self, values: Mapping[str, Number]) -> Number:
        """Return the number for values that are already in a mapping.

        Raises:
            KeyError: If a name of the formula has no value.
        """
        try:
            # _compile has let through arithmetic, names and three functions, nothing else
            return cast("Number", eval(self._code, {"__builtins__": _FUNCTIONS}, values))  # noqa: S307
        except NameError as error:
            raise KeyError(error.name) from None

    def substituted(self, **values: Number) -> str:
        """Return the formula with each name replaced by its number."""
        return _NAME.sub(
            lambda match: match[0] if match[0] in _FUNCTIONS else written(values[match[0]]),
            self.text,
        )


def written(value: Number) -> str:
    """Return a number as a formula shows it: exact, with thousands marks.

    >>> written(4096), written(0.5), written(989.4e12)
    ('4,096', '0.5', '989,400,000,000,000')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.15g}"


@cache
def _compile(text: str) -> CodeType:
    tree = ast.parse(text, mode="eval")
    _check(tree.body)
    return compile(tree, "<formula>", "eval")


def _check(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=int() | float()) | ast.Name():
            return None
        case ast.BinOp(op=op) if type(op) in _OPERATORS:
            _check(node.left)
            return _check(node.right)
        case ast.UnaryOp(op=ast.USub()):
            return _check(node.operand)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
            for argument in node.args:
                _check(argument)
            return None
    raise ValueError(
        f"a formula holds + - * / // **, ceil, min, max and names, not {ast.unparse(node)!r}"
    )
