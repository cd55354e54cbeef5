"""A number that can explain itself, and the formula that gave it."""

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import CodeType
from typing import Any, Final, Literal, cast

from core.language import N_, _
from core.models.spec import ModelSpec

Number = int | float
Kind = Literal["exact", "data sheet", "measured", "bound", "estimated", "claimed"]
Combine = Literal["sum", "max"]

KIND_WORDS: Final[Mapping[Kind, str]] = {
    "exact": N_("exact"),
    "data sheet": N_("data sheet"),
    "measured": N_("measured"),
    "bound": N_("bound"),
    "estimated": N_("estimated"),
    "claimed": N_("claimed"),
}
"""How a number is known, the weakest last: counted by a rule or set by its definition; printed by
the maker; taken from a run; a limit that the real number cannot pass; predicted, with a band;
somebody's word for it."""
KINDS: Final = tuple(KIND_WORDS)
_STRENGTH: Final[Mapping[str, int]] = {kind: place for place, kind in enumerate(KINDS)}

_OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.USub)
_FUNCTIONS: Final[Mapping[str, Any]] = {"ceil": math.ceil, "max": max, "min": min}
_GLOBALS: Final[dict[str, Any]] = {"__builtins__": _FUNCTIONS}
_NAME = re.compile(r"[A-Za-z_]\w*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")


class Formula:
    """Arithmetic in named quantities: `+ - * / // **`, brackets, numbers, names, ceil, min, max.

    The text that a reader sees is the very rule that gives the number.

    >>> six_nd = Formula("6 * num_params * num_tokens")
    >>> values = {"num_params": 7, "num_tokens": 1000}
    >>> six_nd.of(values), six_nd.substituted(values)
    (42000, '6 * 7 * 1,000')
    """

    __slots__ = ("_code", "text")

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self._code = _compile(self.text)

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def of(self, values: Mapping[str, Number]) -> Number:
        """Return the number for these values.

        Raises:
            KeyError: If a name of the formula has no value.
        """
        try:
            # _compile has let through arithmetic, names and three functions, nothing else
            return cast("Number", eval(self._code, _GLOBALS, values))  # noqa: S307
        except NameError as error:
            raise KeyError(error.name) from None

    def substituted(self, values: Mapping[str, Number]) -> str:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One line of a budget."""

    name: str  # what it is, as a word of the glossary: "weights"
    amount: Number  # the number, in `unit`
    # "bytes", "parameters", "FLOPs", "FLOP/s", "s", "tokens/s", "tokens", "count" or "USD"
    unit: str
    low: Number  # lower end of the honest band; equals `amount` when exact
    high: Number
    source: str  # paper, specification or measurement that the rule comes from
    kind: Kind  # one of `KINDS`; with children it is their weakest one
    combine: Combine = "sum"
    children: tuple["Item", ...] = ()
    rule: Formula | None = None
    values: Mapping[str, Number] = field(default_factory=dict)
    # whether it rests on a layout that was guessed, or on a config.json that was not read to its
    # end: then no verdict about it is crisp
    guess: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.name}: kind is {self.kind!r}; use one of: {', '.join(KINDS)}")
        if self.children and self.kind != (found := weakest([part.kind for part in self.children])):
            raise ValueError(f"{self.name} is called {self.kind}; its weakest part is {found}")

    @property
    def formula(self) -> str:
        """The rule in names."""
        if self.rule is not None:
            return self.rule.text
        return self._folded([part.name.replace(" ", "_") for part in self.children])

    @property
    def substituted(self) -> str:
        """The rule with the numbers put in."""
        if self.rule is not None:
            return self.rule.substituted(self.values)
        return self._folded([written(part.amount) for part in self.children])

    def _folded(self, parts: Sequence[str]) -> str:
        if not parts:
            return written(self.amount)
        return " + ".join(parts) if self.combine == "sum" else f"max({', '.join(parts)})"

    @property
    def python(self) -> str:
        """The rule with the numbers put in, and its parts' in place of theirs, as Python reads it.

        It needs `ceil` of math and nothing else.
        """
        if self.rule is not None or not self.children:
            return _THOUSANDS.sub("_", self.substituted)
        parts = [part.python for part in self.children]
        is_max = self.combine == "max" and len(parts) > 1
        return f"max({', '.join(parts)})" if is_max else " + ".join(parts)

    @property
    def num_bytes(self) -> int:
        """The amount, for an item that counts bytes.

        Raises:
            ValueError: If the item counts something else.
        """
        if self.unit != "bytes":
            raise ValueError(f"{self.name} is counted in {self.unit}, not in bytes")
        return round(self.amount)

    @property
    def band(self) -> tuple[float, float]:
        """The relative error, (below, above), as `item` takes it."""
        if not self.amount:
            return 0.0, 0.0
        return 1 - self.low / self.amount, self.high / self.amount - 1

    @property
    def drawn_high(self) -> float:
        """The upper end where a picture draws it: at the amount if it is open."""
        return self.amount if self.high == math.inf else self.high

    def child(self, name: str) -> "Item":
        """Return the part of that name.

        Raises:
            KeyError: If there is none.
        """
        for part in self.children:
            if part.name == name:
                return part
        raise KeyError(name)

    def walk(self) -> Iterator["Item"]:
        """Yield this item and all below it, parents first."""
        yield self
        for part in self.children:
            yield from part.walk()


def weakest(kinds: Iterable[Kind]) -> Kind:
    """Return the kind of a number that is made of numbers of these kinds.

    >>> weakest(["exact", "claimed", "measured"])
    'claimed'
    """
    return max(kinds, key=_STRENGTH.__getitem__)


def item(  # noqa: PLR0913  one argument for each thing that the reader is shown
    name: str,
    formula: Formula,
    values: Mapping[str, Number],
    *,
    unit: str,
    source: str,
    kind: Kind,
    band: float | tuple[float, float] = 0.0,
) -> Item:
    """Return what `formula` gives for `values`.

    `band` is the relative error: one number for either side, or (below, above).
    """
    amount = formula.of(values)
    below, above = band if isinstance(band, tuple) else (band, band)
    return Item(
        name=name,
        amount=amount,
        unit=unit,
        low=amount * (1 - below) if below else amount,
        high=amount * (1 + above) if above else amount,
        source=source,
        kind=kind,
        rule=formula,
        values=values,
    )


def counted(
    name: str, formula: Formula, values: Mapping[str, Number], source: str, unit: str = "bytes"
) -> Item:
    """Return what `formula` gives for `values`, an exact number: counted by a rule, no estimate."""
    return item(name, formula, values, unit=unit, source=source, kind="exact")


def estimated(
    name: str,
    formula: Formula,
    values: Mapping[str, Number],
    source: str,
    band: float | tuple[float, float],
    unit: str = "bytes",
) -> Item:
    """Return what `formula` gives for `values`, and how far the truth may lie: see `item`."""
    return item(name, formula, values, unit=unit, source=source, kind="estimated", band=band)


def total(name: str, parts: Sequence[Item], *, source: str, combine: Combine = "sum") -> Item:
    """Return the sum (or the maximum) of items in one unit; it is of their weakest kind.

    Raises:
        ValueError: If there are no parts or their units differ.
    """
    units = {part.unit for part in parts}
    if len(units) != 1:
        raise ValueError(f"{name} needs parts in one unit, not in {sorted(units)}")
    fold = sum if combine == "sum" else max
    kind = weakest([part.kind for part in parts])
    amount = fold([part.amount for part in parts])
    is_exact = kind == "exact"  # then no part has a band
    return Item(
        name=name,
        amount=amount,
        unit=units.pop(),
        low=amount if is_exact else fold([part.low for part in parts]),
        high=amount if is_exact else fold([part.high for part in parts]),
        source=source,
        kind=kind,
        combine=combine,
        children=tuple(parts),
        guess=any(part.guess for part in parts),
    )


GUESSED: Final = (0.35, 0.1)
"""How far the truth may lie below and above what is counted as if laid out like Llama: found for
every configuration of the catalogue, read as one of an unknown type, and for feed-forward layers
without a gate, which no field need tell of (tests/core/budget/test_guesses.py).
"""
GUESSED_CACHE: Final = (0.85, 0.1)
"""The same for a KV cache: no field need tell of a window."""
GUESSED_WORK: Final = (0.35, 0.65)
"""The same for FLOPs and what follows from them: no field need tell of a shared expert."""
GUESSED_TIME: Final = (GUESSED_CACHE[0], GUESSED_WORK[1])
"""The same for seconds of serving, which hang on both."""


def is_uncertain(spec: ModelSpec) -> bool:
    """Return whether a model is not wholly known: guessed, or not counted to its end."""
    return spec.guessed or bool(spec.not_counted)


def as_guessed(tree: Item, spec: ModelSpec, band: tuple[float, float] = GUESSED) -> Item:
    """Return the tree with nothing exact in it where the model is not wholly known.

    A layout that was guessed has a band; fields that were not counted leave the upper end open: of
    a known layout it is at least what was counted, but of a cache nothing is known. `band` is how
    far off a guess of this is: one of the four above.
    """
    if not is_uncertain(spec) or (tree.guess and not tree.children):
        return tree
    below, above = band if spec.guessed else (0.0, 0.0)
    if spec.not_counted:
        holds_cache = band in (GUESSED_CACHE, GUESSED_TIME)
        below, above = (1.0 if spec.guessed or holds_cache else 0.0), math.inf
    kind = weakest([tree.kind, "estimated"])
    if tree.children:
        parts = tuple(as_guessed(part, spec, band) for part in tree.children)
        fold = sum if tree.combine == "sum" else max
        low, high = fold([part.low for part in parts]), fold([part.high for part in parts])
        return replace(tree, kind=kind, low=low, high=high, guess=True, children=parts)
    high = math.inf if above == math.inf else tree.high * (1 + above)
    return replace(tree, kind=kind, low=tree.low * (1 - below), high=high, guess=True)


def hedged(written_amount: str, number: Item) -> str:
    """Return a number as written, with "about" or "at least" before it where it is a guess."""
    if not number.guess:
        return written_amount
    is_least = number.low == number.amount < number.high
    words = _("at least {amount}") if is_least else _("about {amount}")
    return words.format(amount=written_amount)
