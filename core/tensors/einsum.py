"""An einsum, planned: pair by pair, what each step multiplies, sums and costs, and in what order.

torch without opt_einsum contracts from left to right; the best order is found by trying all. FLOPs
are counted as usual: a multiplication and an addition for each combination of the indices of a
pair, one where nothing is summed. Axes that a single operand has and the result has not are summed
before, once, in every order: n - 1 additions for each sum of n numbers.
(torch: aten/src/ATen/native/Linear.cpp, einsum and sumproduct_pair.)
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.tensors.einsum_code import Factor, product_code, single_code
from core.tensors.einsum_equation import EinsumAxis, Equation, read_equation


@dataclass(frozen=True, kw_only=True, slots=True)
class Contraction:
    """One step: two tensors become one, or a single one is summed and permuted.

    Attributes:
        factors: The two tensors, or the single one; operands are x0, x1, ...
        made: What comes of it: t1, t2, ..., at the end "result".
        summed: Letters that end here.
        flops: Of the product; 0 of a single operand.
        additions: Of the axes of one factor that are summed before, or of a single operand.
        is_matmul: Whether torch makes it a matrix product, which FlopCounterMode counts.
    """

    factors: tuple[Factor, ...]
    made: Factor
    summed: str
    flops: int
    additions: int
    is_matmul: bool

    @property
    def equation(self) -> str:
        """In torch's notation."""
        return f"{','.join(each.letters for each in self.factors)}->{self.made.letters}"

    @property
    def code(self) -> str:
        """Plain torch that does it with matmul, permute and reshape."""
        if len(self.factors) == 1:
            return single_code(self.factors[0], self.made)
        left, right = self.factors
        return product_code(left, right, self.made)

    @property
    def num_elements(self) -> int:
        """Of what comes of it."""
        return math.prod(self.made.shape)


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """An order of contractions."""

    steps: tuple[Contraction, ...]

    @property
    def flops(self) -> int:
        """Of all products, and of the sums before them."""
        return sum(step.flops + step.additions for step in self.steps)

    @property
    def largest_intermediate(self) -> int:
        """Elements of the largest tensor that is made, the result too."""
        return max(step.num_elements for step in self.steps)

    @property
    def code(self) -> str:
        """Lines of plain torch; the last defines `result`, the operands are x0, x1, ..."""
        return "\n".join(f"{step.made.name} = {step.code}" for step in self.steps)


@dataclass(frozen=True, kw_only=True, slots=True)
class EinsumPlan:
    """What an equation does to operands of known shapes.

    Attributes:
        equation: As it was read; axes, terms and lengths.
        shape: Of the result.
        left_to_right: As torch goes without opt_einsum.
        best: With fewest FLOPs; of equals, the one with the smallest intermediate.
    """

    equation: Equation
    shape: tuple[int, ...]
    left_to_right: Order
    best: Order

    @property
    def axes(self) -> tuple[EinsumAxis, ...]:
        """Every index with its length."""
        return self.equation.axes

    @property
    def flops(self) -> int:
        """Of products and sums, in torch's order."""
        return self.left_to_right.flops

    @property
    def code(self) -> str:
        """Plain torch for the best order; operands are x0, x1, ..., the last line is `result`."""
        return self.best.code


def plan_einsum(equation: str, shapes: Sequence[Sequence[int]]) -> EinsumPlan:
    """Plan an einsum of up to four operands.

    Args:
        equation: "ab,cb->ac" as torch writes it, or "a b, c b -> a c" as einops does.
        shapes: Of the operands.

    Raises:
        ValueError: If torch or einops would refuse it.

    >>> plan_einsum("ij,jk,kl->il", [(100, 2), (2, 100), (100, 2)]).best.flops
    1600
    """
    read = read_equation(equation, shapes)
    operands = [
        Factor(name=f"x{number}", letters=term, shape=shape)
        for number, (term, shape) in enumerate(zip(read.terms, read.shapes, strict=True))
    ]
    orders = [Order(steps=steps) for steps in _orders(operands, read)]
    return EinsumPlan(
        equation=read,
        shape=tuple(read.sizes[letter] for letter in read.result),
        left_to_right=orders[0],
        best=min(orders, key=lambda order: (order.flops, order.largest_intermediate)),
    )


def _orders(factors: list[Factor], equation: Equation) -> Iterator[tuple[Contraction, ...]]:
    """Yield all orders, from left to right first: what comes of a pair stands in its place."""
    if len(factors) == 1:
        yield (_single(factors[0], equation),)
        return
    for i in range(len(factors)):
        for j in range(i + 1, len(factors)):
            others = [*factors[:i], *factors[i + 1 : j], *factors[j + 1 :]]
            step, made = _pair(factors[i], factors[j], others, equation)
            if not others:
                yield (step,)
                return
            left = [*others[:i], made, *others[i:]]
            yield from ((step, *steps) for steps in _orders(left, equation))


def _pair(
    left: Factor, right: Factor, others: Sequence[Factor], equation: Equation
) -> tuple[Contraction, Factor]:
    needed = _needed(others, equation)
    both = dict.fromkeys(left.letters + right.letters)
    letters = "".join(letter for letter in both if letter in needed) if others else equation.result
    shared = left.long_letters & right.long_letters
    summed = shared - needed
    used = ((left.long_letters | right.long_letters) & needed) | summed
    lengths = {**left.lengths, **{a: n for a, n in right.lengths.items() if n != 1}}
    made = Factor(
        name=f"t{len(equation.terms) - len(others) - 1}" if others else "result",
        letters=letters,
        shape=tuple(lengths.get(letter, left.lengths.get(letter, 1)) for letter in letters),
    )
    step = Contraction(
        factors=(left, right),
        made=made,
        summed="".join(sorted(both.keys() - set(letters))),
        flops=(2 if summed else 1) * math.prod(lengths[letter] for letter in used),
        additions=_additions(left, needed | summed) + _additions(right, needed | summed),
        is_matmul=bool(summed),
    )
    return step, made


def _single(x: Factor, equation: Equation) -> Contraction:
    result = Factor(
        name="result",
        letters=equation.result,
        shape=tuple(x.lengths[letter] for letter in equation.result),
    )
    return Contraction(
        factors=(x,),
        made=result,
        summed="".join(sorted(set(x.letters) - set(equation.result))),
        flops=0,
        additions=_additions(x, {*equation.result}),
        is_matmul=False,
    )


def _needed(others: Sequence[Factor], equation: Equation) -> set[str]:
    """Return the letters that must be kept: of the result, and of operands that follow.

    Where another operand has length 1, it does not wait to be multiplied along that axis.
    """
    return {*equation.result, *(letter for each in others for letter in each.long_letters)}


def _additions(x: Factor, kept: set[str]) -> int:
    """Return how many additions sum over all axes but those that are kept."""
    before = math.prod(x.lengths.values())
    after = math.prod(length for letter, length in x.lengths.items() if letter in kept)
    return max(before - after, 0)  # of no numbers, there is none
