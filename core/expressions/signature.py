"""What a call takes: a signature in one line, and arguments checked against it.

`"narrow(dim int, start int, length int)"` names parameters and their kinds. `"dim int = None"` may
be left out, `"dims ints"` takes one or a list, `"shape *ints"` all that follow too, what follows
`"*"` is given by its name, `"**sizes"` are named integers.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.error import ExpressionError, Span
from core.language import N_, _

Run = Callable[..., Any]
Check = Callable[[Any], bool]


def as_tuple(value: int | Sequence[int]) -> tuple[int, ...]:
    """Return one integer or several as a tuple."""
    return (value,) if isinstance(value, int) else tuple(value)


def _is(*types: type) -> Check:
    """Return a check of the very type: a bool is no int here."""
    return lambda value: type(value) in types


def _are(check: Check) -> Check:
    """Return a check of all in a tuple or list."""
    return lambda value: isinstance(value, tuple | list) and all(map(check, value))


def _is_data(value: Any) -> bool:  # noqa: ANN401
    """Whether it is a number or a nested list of numbers."""
    return type(value) in {int, float, bool} or _are(_is_data)(value)


_is_integer, _are_integers = _is(int), _are(_is(int))
KINDS: Final[Mapping[str, tuple[str, Check]]] = {
    "int": (N_("an integer"), _is_integer),
    "ints": (N_("integers"), lambda value: _is_integer(value) or _are_integers(value)),
    "*ints": (N_("integers"), _are_integers),
    "number": (N_("a number"), _is(int, float)),
    "bool": (N_("True or False"), _is(bool)),
    "text": (N_("a string"), _is(str)),
    "dtype": (N_("a dtype, such as torch.float16"), _is(torch.dtype)),
    "format": (N_("a memory format"), _is(torch.memory_format)),
    "tensor": (N_("a tensor"), _is(Tensor)),
    "tensors": (N_("a list of tensors"), _are(_is(Tensor))),
    "list": (N_("a list"), _is(tuple, list, torch.Size)),
    "data": (N_("a number or a list of numbers"), _is_data),
    "None": ("None", _is(type(None))),
}
REQUIRED: Final = object()
# What NumPy calls an argument, and torch too, beside its own name for it.
_OTHER_NAMES: Final = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x2": "other"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument: its name, the kinds that it may have, and what it is if it is left out."""

    name: str
    kinds: tuple[str, ...]
    default: object = REQUIRED
    is_named: bool = False  # whether only its name tells it

    @property
    def usage(self) -> str:
        """How Python writes it: `*shape`, `dim=0`."""
        if "*ints" in self.kinds:
            return f"*{self.name}"
        return self.name if self.default is REQUIRED else f"{self.name}={self.default!r}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A row of the tables of what may be called.

    Attributes:
        no_sizes: Names that these may not have: what runs underneath needs them itself.
        reads_values: Whether the result's shape depends on the values, so that no dry run tells it.
        is_stateful: Whether it acts on gradients, on the graph or on values alone, so that no dry
            run can be made; what it allocates is counted while it runs.
    """

    name: str  # as in PyTorch
    parameters: tuple[Parameter, ...]  # in order; of a method without the tensor itself
    run: Run  # the real thing; it is handed all parameters, in order, after a method's tensor
    takes_sizes: bool = False  # whether named integers may follow, as einops takes them
    no_sizes: frozenset[str] = frozenset()
    reads_values: bool = False
    writes: bool = False  # whether it changes its tensor
    is_random: bool = False  # whether `run` takes a generator after its parameters
    is_stateful: bool = False
    is_written_out: bool = False  # whether it gives each element as a number

    def bind(
        self, positional: Sequence[object], named: Mapping[str, object], node: ast.Call
    ) -> tuple[object, ...]:
        """Return the arguments in the order of the parameters.

        Raises:
            ExpressionError: If one is missing, too much, or of another kind.
        """
        given = self._by_name(positional, named, node)
        values = []
        for parameter in self.parameters:
            value = given.get(parameter.name, parameter.default)
            if value is REQUIRED:
                raise self._error(_("{name} is missing").format(name=parameter.name), node)
            is_right = any(KINDS[kind][1](value) for kind in parameter.kinds)
            if value is not parameter.default and not is_right:
                expected = _(" or ").join(_(KINDS[kind][0]) for kind in parameter.kinds)
                reason = _("{name} must be {expected}")
                reason = reason.format(name=parameter.name, expected=expected)
                raise self._error(reason, node, parameter.name)
            values.append(value)
        if self.takes_sizes:
            values.append({name: given[name] for name in given.keys() - self._names()})
        return tuple(values)

    def _by_name(
        self, positional: Sequence[object], named: Mapping[str, object], node: ast.Call
    ) -> dict[str, object]:
        left, given = list(positional), dict[str, object]()
        named = {self._own_name(name): value for name, value in named.items()}
        for parameter in self.parameters[: len(left)]:
            if not left or parameter.is_named:
                break
            if "*ints" in parameter.kinds and _is_integer(left[0]):  # view(2, 3) is view((2, 3))
                given[parameter.name] = tuple(takewhile(_is_integer, left))
                left = list(dropwhile(_is_integer, left))
            else:
                given[parameter.name] = left.pop(0)
        if left:
            raise self._error(_("too many arguments"), node)
        for name, value in named.items():
            self._check_named(name, value, given, node)
        return {**given, **named}

    def _check_named(
        self, name: str, value: object, given: Mapping[str, object], node: ast.Call
    ) -> None:
        reason = ""
        if name in given:
            reason = _("{name} is given twice")
        elif name not in self._names() and not self.takes_sizes:
            reason = _("it has no argument {name}")
        elif name not in self._names() and name in self.no_sizes:
            reason = _("the length of {name} cannot be given, for an argument has this name")
        elif name not in self._names() and not _is_integer(value):
            reason = _("the size {name} must be an integer")
        if reason:
            raise self._error(reason.format(name=name), node, name)

    def _own_name(self, name: str) -> str:
        own = _OTHER_NAMES.get(name, name)
        return own if own in self._names() else name

    def _names(self) -> set[str]:
        return {parameter.name for parameter in self.parameters}

    @property
    def usage(self) -> str:
        """How Python writes it: "sum(dim=None, keepdim=False)"."""
        words = [each.usage for each in self.parameters] + ["**sizes"] * self.takes_sizes
        return f"{self.name}({', '.join(words)})"

    def _error(self, reason: str, node: ast.Call, name: str = "") -> ExpressionError:
        message = _("{signature}: {reason}.").format(signature=self.usage, reason=reason)
        return ExpressionError(message, self._span_of(name, node))

    def _span_of(self, name: str, node: ast.Call) -> Span:
        """Return where an argument stands; of one that cannot be found, where the call does."""
        named = {self._own_name(str(each.arg)): each for each in node.keywords}
        if name in named:
            return Span.of(named[name])
        for parameter, argument in zip(self.parameters, node.args, strict=False):
            if parameter.name == name:
                return Span.of(argument)
            if "*ints" in parameter.kinds:
                break  # it may take several: which comes next, the tree does not tell
        return Span.of_last(node)


_LINE = re.compile(r"(?P<name>[\w.]+)\((?P<parameters>.*)\)")


def table_of(
    rows: Mapping[str, Run],
    *,
    no_sizes: frozenset[str] = frozenset(),
    hands_on: bool = False,
    **marks: bool,
) -> dict[str, Call]:
    """Return calls by name, from signatures and what they run.

    Where it `hands_on`, torch's own function is called as the reader did: it finds its defaults
    itself, and is told by name what only a name tells.

    >>> table_of({"t()": lambda x: x.t()})["t"].parameters
    ()
    """
    table = {}
    for signature, run in rows.items():
        found = _LINE.fullmatch(signature)
        if not found:
            raise ValueError(f"{signature!r} is no signature")
        words = [word.strip() for word in found["parameters"].split(",") if word.strip()]
        star = words.index("*") if "*" in words else len(words)
        parameters = tuple(
            _parameter_of(word, is_named=at > star)
            for at, word in enumerate(words)
            if word not in {"*", "**sizes"}
        )
        table[found["name"]] = Call(
            name=found["name"],
            parameters=parameters,
            run=_handing_on(run, parameters, marks) if hands_on else run,
            takes_sizes="**sizes" in words,
            no_sizes=no_sizes,
            **marks,
        )
    return table


def _handing_on(run: Run, parameters: Sequence[Parameter], marks: Mapping[str, bool]) -> Run:
    hidden = ["generator"] if marks.get("is_random") else []

    def call(*arguments: Any) -> Any:  # noqa: ANN401
        num_own = len(arguments) - len(parameters) - len(hidden)  # a method's tensor
        positional = list(arguments[:num_own])
        named = dict(zip(hidden, arguments[num_own + len(parameters) :], strict=True))
        all_before = True
        for parameter, value in zip(parameters, arguments[num_own:], strict=False):
            if value is parameter.default:
                all_before = False
            elif all_before and not parameter.is_named:
                positional.append(value)
            else:
                named[parameter.name] = value
        return run(*positional, **named)

    return call


def _parameter_of(word: str, *, is_named: bool) -> Parameter:
    left, _equals, default = (part.strip() for part in word.partition("="))
    name, kinds = left.split(" ", 1)
    return Parameter(
        name,
        tuple(kinds.replace(" ", "").split("|")),
        ast.literal_eval(default) if default else REQUIRED,
        is_named,
    )
