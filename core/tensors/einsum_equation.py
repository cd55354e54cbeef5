"""An einsum equation, read: the axes of each operand and of the result, with their lengths.

In torch's notation each letter is an axis ("ab,cb->ac"), in einops' each word ("a b, c b -> a c").
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_letters
from typing import Final, Literal

from core.language import _

Notation = Literal["torch", "einops"]
MAX_OPERANDS: Final = 4
_TERM: Final = {
    "torch": re.compile(r"[A-Za-z]|\.\.\."),
    "einops": re.compile(r"[A-Za-z_]\w*|\.\.\."),
}
DOTS: Final = "..."


@dataclass(frozen=True, kw_only=True, slots=True)
class EinsumAxis:
    """An index of the equation.

    Attributes:
        name: As written; "...0", "...1" of the dimensions that dots stand for.
        letter: Its letter in torch's notation.
        size: Its length; where some operands have 1 there, that of the others.
        operands: The numbers of the operands that have it.
        is_summed: Whether the result is without it.
    """

    name: str
    letter: str
    size: int
    operands: tuple[int, ...]
    is_summed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Equation:
    """An equation for operands of known shapes.

    Attributes:
        notation: Which of the two it is written in.
        axes: In order of appearance.
        terms: Of each operand, the letters of its dimensions.
        result: The letters of the result's dimensions.
        shapes: Of the operands.
    """

    notation: Notation
    axes: tuple[EinsumAxis, ...]
    terms: tuple[str, ...]
    result: str
    shapes: tuple[tuple[int, ...], ...]

    @property
    def torch(self) -> str:
        """The whole in torch's notation, without dots: "ab,cb->ac"."""
        return f"{','.join(self.terms)}->{self.result}"

    @property
    def sizes(self) -> dict[str, int]:
        """Length of each axis, by letter."""
        return {axis.letter: axis.size for axis in self.axes}


def read_equation(text: str, shapes: Sequence[Sequence[int]]) -> Equation:
    """Read an equation for operands of these shapes.

    Args:
        text: Up to four operands. Without an arrow, torch's result has each letter that appears
            once, in alphabetical order.
        shapes: Of the operands.

    Raises:
        ValueError: If torch or einops would refuse it.
    """
    names, end, notation = names_in(text)
    _check_count(names, shapes)
    num_dots = [len(shape) - len(term) + 1 for term, shape in zip(names, shapes, strict=True)]
    most = max((n for n, term in zip(num_dots, names, strict=True) if DOTS in term), default=0)
    terms = [_filled(term, n, most) for term, n in zip(names, num_dots, strict=True)]
    sizes = _sizes(terms, shapes)
    result = _implied(terms, notation) if end is None else _filled(end, most, most)
    _check_result(result, sizes)
    letters = _letters(list(sizes), notation)
    return Equation(
        notation=notation,
        axes=tuple(
            EinsumAxis(
                name=name,
                letter=letters[name],
                size=size,
                operands=tuple(i for i, term in enumerate(terms) if name in term),
                is_summed=name not in result,
            )
            for name, size in sizes.items()
        ),
        terms=tuple("".join(letters[name] for name in term) for term in terms),
        result="".join(letters[name] for name in result),
        shapes=tuple(tuple(shape) for shape in shapes),
    )


def names_in(text: str) -> tuple[list[list[str]], list[str] | None, Notation]:
    """Return the names of each operand and of the result, and the notation; "..." is a name.

    The names of the result are None without an arrow. A space between two names makes it einops'.

    Raises:
        ValueError: If something else than names, commas and one arrow stands in it.
    """
    left, arrow, right = text.partition("->")
    texts = left.split(",")
    is_spaced = any(re.search(r"[\w.]\s+[\w.]", each) for each in (*texts, right))
    notation: Notation = "einops" if is_spaced else "torch"
    end = _names(right, notation) if arrow else None
    return [_names(each, notation) for each in texts], end, notation


def _check_count(terms: Sequence[Sequence[str]], shapes: Sequence[Sequence[int]]) -> None:
    if len(terms) > MAX_OPERANDS:
        message = _("The equation has {count} operands; at most {limit} are supported.")
        raise ValueError(message.format(count=len(terms), limit=MAX_OPERANDS))
    if len(terms) != len(shapes):
        message = _("The equation has {count} operands, but there are {given} tensors.")
        raise ValueError(message.format(count=len(terms), given=len(shapes)))


def _names(text: str, notation: Notation) -> list[str]:
    names = _TERM[notation].findall(text)
    rest = _TERM[notation].sub(" ", text).strip()
    if rest or names.count(DOTS) > 1:
        message = _(
            "{part} is not allowed in an equation; use names, commas, one -> and at most one ..."
        )
        raise ValueError(message.format(part=rest or DOTS))
    return list(names)


def _filled(names: Sequence[str], num_dots: int, most: int) -> list[str]:
    """Replace dots by the last of the names that they have in the operand with most of them."""
    dots = [f"{DOTS}{number}" for number in range(most - num_dots, most)]
    return [each for name in names for each in (dots if name == DOTS else [name])]


def _sizes(terms: Sequence[Sequence[str]], shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    """Return the length of each axis; 1 goes with any length, as torch has it."""
    sizes: dict[str, int] = {}
    for number, (term, shape) in enumerate(zip(terms, shapes, strict=True), start=1):
        if len(term) != len(shape):
            message = _("Operand {number} has {rank} dimensions, but the equation names {count}.")
            raise ValueError(message.format(number=number, rank=len(shape), count=len(term)))
        for name, length in zip(term, shape, strict=True):
            known = sizes.get(name, 1)
            is_repeated = term.count(name) > 1 and length != shape[term.index(name)]
            if is_repeated or (known != length and 1 not in {known, length}):
                message = _(
                    "Axis {name} has length {length} in operand {number}, but {known} before."
                )
                words = {"name": name, "length": length, "number": number}
                raise ValueError(message.format(known=known, **words))
            sizes[name] = length if known == 1 else known
    return sizes


def _implied(terms: Sequence[Sequence[str]], notation: Notation) -> list[str]:
    if notation == "einops":
        raise ValueError(
            _("In einops' notation, an equation needs an arrow and the axes of the result.")
        )
    counts = Counter(name for term in terms for name in term)
    once = [name for name in counts if name.startswith(DOTS) or counts[name] == 1]
    return sorted(once, key=lambda name: (not name.startswith(DOTS), name))


def _check_result(result: Sequence[str], sizes: dict[str, int]) -> None:
    for name in result:
        if name not in sizes:
            message = _("Axis {name} of the result is in no operand.")
            raise ValueError(message.format(name=name))
        if result.count(name) > 1:
            raise ValueError(_("Axis {name} appears twice in the result.").format(name=name))
    if len(sizes) > len(ascii_letters):
        message = _("The equation has {count} axes; torch has letters for {limit}.")
        raise ValueError(message.format(count=len(sizes), limit=len(ascii_letters)))


def _letters(names: Sequence[str], notation: Notation) -> dict[str, str]:
    """Return a letter for each name: its own, its first, or the next that is free."""
    letters = {name: name for name in names if len(name) == 1 and name.isalpha()}
    for name in names:
        wishes = (name[0] if notation == "einops" else "", *ascii_letters)
        free = (each for each in wishes if each in ascii_letters and each)
        letters.setdefault(name, next(each for each in free if each not in letters.values()))
    return letters
