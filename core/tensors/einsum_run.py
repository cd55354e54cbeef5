"""An einsum in both notations, and what torch runs underneath: products, hidden copies, bytes."""

import math
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.expressions import ON_META
from core.language import _
from core.tensors.presets import without_data
from core.tensors.trace import AtenRow, trace

OPERANDS: Final = ("x", "y", "z")
MAX_INDICES: Final = 6
DOTS: Final = "..."


@dataclass(frozen=True, kw_only=True, slots=True)
class Equation:
    """An einsum taken apart.

    Attributes:
        operands: Indices of each tensor, by name.
        result: Indices of the result.
    """

    operands: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]

    @property
    def indices(self) -> tuple[str, ...]:
        """All indices in order of appearance."""
        return tuple(dict.fromkeys(name for each in self.operands for name in each))

    @property
    def summed(self) -> tuple[str, ...]:
        """Those that the result does not name."""
        return tuple(name for name in self.indices if name not in self.result)

    @property
    def einops(self) -> str:
        """As einops writes it: names with spaces, after the tensors."""
        sides = (", ".join(" ".join(each) for each in self.operands), " ".join(self.result))
        return " -> ".join(sides).rstrip()

    @property
    def torch(self) -> str:
        """As torch writes it: one letter for each index, before the tensors."""
        letters = self._letters()
        texts = ["".join(letters[name] for name in each) for each in (*self.operands, self.result)]
        return f"{','.join(texts[:-1])}->{texts[-1]}"

    def _letters(self) -> dict[str, str]:
        """Give every name a letter: its own first one where no earlier name has it."""
        letters = {DOTS: DOTS}
        for name in self.indices:
            if name not in letters:
                free = (each for each in name[0] + string.ascii_letters if each.isalpha())
                letters[name] = next(each for each in free if each not in letters.values())
        return letters


@dataclass(frozen=True, kw_only=True, slots=True)
class EinsumRun:
    """An einsum, run without data.

    Attributes:
        equation: What was asked for.
        shapes: Of the tensors.
        result_shape: Of the result.
        num_bytes: Of the result.
        hidden_bytes: Of the copies that torch makes before it multiplies.
        flops: Of all products, as torch counts them: one multiplication and one addition each.
        aten: What ran underneath.
    """

    equation: Equation
    shapes: tuple[tuple[int, ...], ...]
    result_shape: tuple[int, ...]
    num_bytes: int
    hidden_bytes: int
    flops: int
    aten: tuple[AtenRow, ...]

    @property
    def num_clones(self) -> int:
        """How many copies nobody wrote."""
        return sum(is_clone(row) for row in self.aten)


def is_clone(row: AtenRow) -> bool:
    """Whether an aten operation copies a tensor as it is."""
    return row.name.startswith(("aten.clone", "aten.contiguous", "aten._to_copy"))


def read_equation(text: str) -> Equation:
    """Take an einsum apart; a space between names makes it einops' notation, else torch's.

    Raises:
        ValueError: If it has no arrow, too many tensors or indices, or an index from nowhere.

    >>> read_equation("bqd,bkd->bqk") == read_equation("b q d, b k d -> b q k")
    True
    """
    left, arrow, right = text.partition("->")
    if not arrow or "->" in right:
        raise ValueError(_("An einsum has one arrow: ij,jk->ik or i j, j k -> i k."))
    parts = [part.strip() for part in (*left.split(","), right)]
    is_spaced = any(" " in part.replace("...", " ... ").strip() and " " in part for part in parts)
    names = [_names(part, is_spaced=is_spaced) for part in parts]
    equation = Equation(operands=tuple(names[:-1]), result=names[-1])
    _check(equation)
    return equation


def _names(part: str, *, is_spaced: bool) -> tuple[str, ...]:
    if is_spaced:
        return tuple(part.split())
    head, dots, tail = part.partition(DOTS)
    return (*head, *((DOTS,) if dots else ()), *tail)


def _check(equation: Equation) -> None:
    if len(equation.operands) > len(OPERANDS):
        message = _("{count} tensors; at most {limit} are multiplied here.")
        raise ValueError(message.format(count=len(equation.operands), limit=len(OPERANDS)))
    if not 1 <= len(equation.indices) <= MAX_INDICES:
        message = _("The equation names {count} indices; use 1 to {limit}.")
        raise ValueError(message.format(count=len(equation.indices), limit=MAX_INDICES))
    for name in (*equation.indices, *equation.result):
        if name != DOTS and not (name.isascii() and name.isidentifier()):
            raise ValueError(_("{name} is no name of an index.").format(name=repr(name)))
    for name in equation.result:
        if name not in equation.indices:
            message = _("Index {name} of the result is in no tensor.")
            raise ValueError(message.format(name=name))


def run_einsum(equation: Equation, lengths: Mapping[str, int], dtype: str) -> EinsumRun:
    """Run `torch.einsum` on tensors without data and tell what it did.

    Args:
        equation: Of `read_equation`.
        lengths: Of every index; "..." is one dimension here.
        dtype: Of all tensors.

    Raises:
        ValueError: If torch refuses it, or a tensor is larger than an int64 can count.
    """
    shapes = tuple(tuple(lengths[name] for name in each) for each in equation.operands)
    names = OPERANDS[: len(shapes)]
    source = f"torch.einsum('{equation.torch}', {', '.join(names)})"
    tensors = {name: without_data(shape, dtype) for name, shape in zip(names, shapes, strict=True)}
    ran = trace(source, tensors, ON_META)
    if ran.error:
        raise ValueError(ran.error.torch_message.strip() or ran.error.message)
    (step,) = ran.steps
    layout = step.outputs[0].layout
    return EinsumRun(
        equation=equation,
        shapes=shapes,
        result_shape=layout.shape,
        num_bytes=layout.num_bytes,
        hidden_bytes=sum(row.num_bytes for row in step.aten if is_clone(row)),
        flops=sum(row.flops for row in step.aten),
        aten=step.aten,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """An order of pairwise products.

    Attributes:
        code: The tensors in brackets: "(x y) z", "x (y z)".
        flops: Of both products.
        largest: Elements of the tensor in between.
    """

    code: str
    flops: int
    largest: int


def orders_of(equation: Equation, lengths: Mapping[str, int]) -> tuple[Order, ...]:
    """Return the three orders of an einsum of three tensors; the first is torch's own.

    A product takes two FLOPs for each combination of the indices of its two tensors. An index is
    summed as soon as neither the third tensor nor the result names it.
    """
    if len(equation.operands) != len(OPERANDS):
        return ()
    return tuple(_order(equation, lengths, last) for last in (2, 0, 1))


def _order(equation: Equation, lengths: Mapping[str, int], last: int) -> Order:
    third = equation.operands[last]
    first, second = (each for at, each in enumerate(equation.operands) if at != last)
    pair = dict.fromkeys((*first, *second))
    kept = [name for name in pair if name in third or name in equation.result]
    together = dict.fromkeys((*kept, *third))
    pair_code = f"({' '.join(name for at, name in enumerate(OPERANDS) if at != last)})"
    code = f"{OPERANDS[0]} {pair_code}" if last == 0 else f"{pair_code} {OPERANDS[last]}"
    products = (math.prod(lengths[name] for name in each) for each in (pair, together))
    return Order(
        code=code,
        flops=2 * sum(products),
        largest=math.prod(lengths[name] for name in kept),
    )
