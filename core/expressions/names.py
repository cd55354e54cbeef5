"""What names stand for: namespaces, constants, and the rows of a profile, never an attribute."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import EllipsisType
from typing import Final

from torch import Tensor

from core.expressions.error import ExpressionError, Span
from core.expressions.functions import CONSTANTS, FUNCTIONS, GRADIENT_FUNCTIONS
from core.expressions.grammar import PLAIN, WITH_GRADIENTS, WITH_WRITES, WRITES_ELSEWHERE, Syntax
from core.expressions.methods import (
    GRADIENT_METHODS,
    GRADIENT_PROPERTIES,
    METHODS,
    PROPERTIES,
    WRITES,
)
from core.expressions.operation import Value
from core.expressions.signature import Call
from core.language import _
from core.language.listing import followed_by


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What a text may call.

    Attributes:
        methods, properties, functions: Rows by the name that a reader writes.
        records_gradients: Whether autograd is on, as the program switches it, and the last line may
            give something else than a tensor.
    """

    methods: Mapping[str, Call]
    properties: Mapping[str, Call]
    functions: Mapping[str, Call]
    writes_elements: bool = False  # whether `x[0] = 1` and `x[0] += 1` are allowed
    records_gradients: bool = False
    syntax: Syntax = PLAIN  # what `parse` shall let through


LAYOUT: Final = Profile(methods=METHODS, properties=PROPERTIES, functions=FUNCTIONS)
MUTATION: Final = Profile(
    methods={**METHODS, **WRITES},
    properties=PROPERTIES,
    functions=FUNCTIONS,
    writes_elements=True,
    syntax=WITH_WRITES,
)
GRADIENT: Final = Profile(
    methods={**METHODS, **WRITES, **GRADIENT_METHODS},
    properties={**PROPERTIES, **GRADIENT_PROPERTIES},
    functions={**FUNCTIONS, **GRADIENT_FUNCTIONS},
    writes_elements=True,
    records_gradients=True,
    syntax=WITH_GRADIENTS,
)
NAMESPACES: Final = dict.fromkeys(("F", "nn.functional", "torch.nn.functional"), "F") | {
    "torch": "torch",
    "nn": "torch.nn",
    "math": "math",
    "einops": "",
}


def kind_of(value: Value) -> str:
    """Return what a value is, in the reader's language."""
    if isinstance(value, tuple | list):
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


def dotted(node: ast.expr) -> str:
    """Return "torch.arange" of a name in a namespace; empty of everything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not (isinstance(node, ast.Name) and node.id in NAMESPACES and parts):
        return ""
    *inner, name = [node.id, *reversed(parts)]
    namespace = NAMESPACES.get(".".join(inner), ".".join(inner))
    return f"{namespace}.{name}" if namespace else name


def variable(node: ast.Name, variables: Mapping[str, Value], profile: Profile) -> Value:
    """Return what a plain name stands for.

    Raises:
        ExpressionError: If it stands for nothing, or for something to be called.
    """
    if node.id in variables:
        return variables[node.id]
    if node.id in profile.functions:
        message = _("{name} is a function; call it: {name}(...).")
    elif node.id in NAMESPACES:
        message = _("{name} is not a value; call one of its functions.")
    elif f"torch.{node.id}" in CONSTANTS:
        message = _("Write {name}.").format(name=f"torch.{node.id}")
    else:
        message = _("{name} is not defined. Defined: {names}.")
    names = _(", ").join(sorted(variables)) or "-"
    raise ExpressionError(message.format(name=node.id, names=names), Span.of(node))


def constant(node: ast.Attribute, name: str) -> Value:
    """Return what a dotted name stands for: a dtype or a memory format.

    Raises:
        ExpressionError: If there is none of that name.
    """
    if name in CONSTANTS:
        return CONSTANTS[name]
    raise ExpressionError(_unsupported(name), Span.of(node))


def function(node: ast.Name | ast.Attribute, profile: Profile) -> Call:
    """Return the row of a function.

    Raises:
        ExpressionError: If there is none of that name.
    """
    name = node.id if isinstance(node, ast.Name) else dotted(node)
    functions = profile.functions
    if name in functions:
        return functions[name]
    for written in (f"torch.{name}", f"F.{name}"):
        if written in functions:
            message = _("Write {name}.").format(name=written)
            raise ExpressionError(message, Span.of(node))
    error = unknown(node, name, functions)
    if instead := _method_for(name, profile):
        error = ExpressionError(followed_by(_unsupported(name), instead), Span.of(node))
    raise error


def _method_for(name: str, profile: Profile) -> str:
    """Return what a tensor itself can do in place of a function; empty if it cannot."""
    method = name.rpartition(".")[2]
    if name == "torch.autograd.grad" and "backward" in profile.methods:
        return _("Call y.backward() and read x.grad.")
    return _("Write {name}.").format(name=f"x.{method}(...)") if method in profile.methods else ""


def no_tensor(node: ast.Attribute, value: Value) -> ExpressionError:
    """Return the error of asking something else for what only a tensor has."""
    message = _("Only a tensor has {name}; this is {what}.")
    what = kind_of(value)
    return ExpressionError(message.format(name=node.attr, what=what), Span.of_last(node))


def unknown(node: ast.expr, name: str, known: Mapping[str, Call]) -> ExpressionError:
    """Return the error of a call that is in no table, with those that are spelled like it."""
    if name in WRITES and name not in known:
        return ExpressionError(_(WRITES_ELSEWHERE).format(name=name), Span.of_last(node))
    message = _unsupported(name)
    if name.endswith("_") and name[:-1] in known:
        return ExpressionError(
            followed_by(message, _("Write {name}.").format(name=f"x = x.{name[:-1]}(...)")),
            Span.of_last(node),
        )
    by_last = {each.rpartition(".")[2]: each for each in known}
    if near := get_close_matches(name.rpartition(".")[2], by_last, n=3):
        names = _(", ").join(by_last[each] for each in near)
        message = followed_by(message, _("Did you mean {names}?").format(names=names))
    return ExpressionError(message, Span.of(node) if name.count(".") else Span.of_last(node))


def _unsupported(name: str) -> str:
    return _("{name} is not supported here.").format(name=name)
