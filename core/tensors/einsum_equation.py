"""An einsum equation, read: the indices of each tensor and of the result, with their lengths.

In torch's notation each letter is an index ("ab,cb->ac"), in einops' each word ("a b, c b -> a c").
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters
from typing import Final

from core.language import _

MAX_OPERANDS: Final = 3
MAX_INDICES: Final = 6
DOTS: Final = "..."  # stands for one dimension here
_LETTER: Final = re.compile(r"[A-Za-z]|\.\.\.")
_WORD: Final = re.compile(r"[A-Za-z_]\w*|\.\.\.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Equation:
    """An equation: the indices of each tensor and of the result, in order."""

    names: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]
    lengths: Mapping[str, int]
    letters: Mapping[str, str]  # index -> its letter in torch's notation

    @property
    def indices(self) -> tuple[str, ...]:
        """All indices in order of appearance."""
        return _each_once(self.names)

    @property
    def summed(self) -> tuple[str, ...]:
        """Those that the result does not name."""
        return tuple(name for name in self.indices if name not in self.result)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the tensors."""
        return tuple(tuple(self.lengths[name] for name in each) for each in self.names)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the result."""
        return tuple(self.lengths[name] for name in self.result)

    def written(self, names: Sequence[str]) -> str:
        """Return the letters of indices."""
        return "".join(self.letters[name] for name in names)

    @property
    def torch(self) -> str:
        """In torch's notation, without dots: "ab,cb->ac"."""
        return f"{','.join(map(self.written, self.names))}->{self.written(self.result)}"

    @property
    def einops(self) -> str:
        """As einops writes it: names with spaces."""
        sides = (", ".join(" ".join(each) for each in self.names), " ".join(self.result))
        return " -> ".join(sides).rstrip()


def indices_in(text: str) -> tuple[str, ...]:
    """Return the indices of an equation in order of appearance; "..." is one of them.

    Raises:
        ValueError: If there are too many tensors or indices, or no arrow.

    >>> indices_in("bqd,bkd->bqk"), indices_in("b q d, b k d -> b q k")
    (('b', 'q', 'd', 'k'), ('b', 'q', 'd', 'k'))
    """
    names = _names_in(text)[0]
    if "->" not in text:
        raise ValueError(_("An einsum needs one arrow: ij,jk->ik or i j, j k -> i k."))
    if len(names) > MAX_OPERANDS:
        message = _("The equation has {count} tensors; at most {limit} are supported here.")
        raise ValueError(message.format(count=len(names), limit=MAX_OPERANDS))
    indices = _each_once(names)
    if not 1 <= len(indices) <= MAX_INDICES:
        message = _("The equation names {count} indices; use 1 to {limit}.")
        raise ValueError(message.format(count=len(indices), limit=MAX_INDICES))
    return indices


def read_equation(text: str, lengths: Mapping[str, int]) -> Equation:
    """Read an equation with an arrow, given the length of every index.

    Raises:
        ValueError: If torch or einops would refuse it.
    """
    names, result, is_spaced = _names_in(text)
    indices = _each_once(names)
    for name in result:
        if name not in indices:
            message = _("Axis {name} of the result is in no operand.")
            raise ValueError(message.format(name=name))
        if result.count(name) > 1:
            raise ValueError(_("Axis {name} appears twice in the result.").format(name=name))
    return Equation(
        names=names, result=result, lengths=lengths, letters=_letters(indices, is_spaced=is_spaced)
    )


def _names_in(text: str) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...], bool]:
    """Return the names of each tensor and of the result, and whether spaces part them."""
    left, _arrow, right = text.partition("->")
    texts = (*left.split(","), right)
    is_spaced = any(re.search(r"[\w.]\s+[\w.]", each) for each in texts)
    *names, result = (_names(each, _WORD if is_spaced else _LETTER) for each in texts)
    return tuple(names), result, is_spaced


def _names(text: str, term: re.Pattern[str]) -> tuple[str, ...]:
    names, rest = term.findall(text), term.sub(" ", text).strip()
    if rest or names.count(DOTS) > 1:
        message = _(
            "{part} is not allowed in an equation; use names, commas, one -> and at most one ..."
        )
        raise ValueError(message.format(part=rest or DOTS))
    return tuple(names)


def _each_once(names: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in names for name in each))


def _letters(names: Sequence[str], *, is_spaced: bool) -> dict[str, str]:
    """Return a letter for each name: its own, its first, or the next that is free."""
    letters = {name: name for name in names if len(name) == 1 and name.isalpha()}
    for name in names:
        wishes = (name[0] if is_spaced else "", *ascii_letters)
        free = (each for each in wishes if each in ascii_letters and each)
        letters.setdefault(name, next(each for each in free if each not in letters.values()))
    return letters
