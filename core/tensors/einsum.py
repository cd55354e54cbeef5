"""An einsum, planned pair by pair, and run without data: what it costs, and copies in secret.

torch without opt_einsum contracts from left to right; the best order is found by trying all. FLOPs
are counted as usual: a multiplication and an addition for each combination of the indices of a
pair, one where nothing is summed. Axes that a single operand has and the result has not are summed
before, once, in every order: n - 1 additions for each sum of n numbers.
(torch: aten/src/ATen/native/Linear.cpp, einsum and sumproduct_pair.)
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.expressions import ON_META
from core.tensors.einsum_code import Factor, product_code, single_code
from core.tensors.einsum_equation import Equation, read_equation
from core.tensors.examples import without_data
from core.tensors.trace import AtenRow, trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Contraction:
    """One step: two tensors become one, or a single one is summed and permuted."""

    factors: tuple[Factor, ...]  # operands are x0, x1, ...
    made: Factor  # t1, t2, ..., at the end "result"
    flops: int  # of the product; 0 of a single operand
    additions: int  # of the axes of one factor that are summed before, or of a single operand

    @property
    def code(self) -> str:
        """Plain torch that does it with matmul, permute and reshape."""
        if len(self.factors) == 1:
            return single_code(self.factors[0], self.made)
        left, right = self.factors
        return product_code(left, right, self.made)


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
        return max(math.prod(step.made.shape) for step in self.steps)

    @property
    def code(self) -> str:
        """Lines of plain torch; the last defines `result`, the operands are x0, x1, ..."""
        return "\n".join(f"{step.made.name} = {step.code}" for step in self.steps)


@dataclass(frozen=True, kw_only=True, slots=True)
class EinsumPlan:
    """What an equation does to tensors of known shapes."""

    equation: Equation
    left_to_right: Order  # as torch goes without opt_einsum
    best: Order  # with fewest FLOPs; of equals, the one with the smallest intermediate


def plan_einsum(text: str, lengths: Mapping[str, int]) -> EinsumPlan:
    """Plan an einsum.

    Args:
        text: "ab,cb->ac" as torch writes it, or "a b, c b -> a c" as einops does.
        lengths: Of every index; "..." is one dimension here.

    Raises:
        ValueError: If torch or einops would refuse it.

    >>> plan_einsum("ij,jk,kl->il", {"i": 100, "j": 2, "k": 100, "l": 2}).best.flops
    1600
    """
    read = read_equation(text, lengths)
    operands = [
        Factor(name=f"x{number}", letters=read.written(names), shape=shape)
        for number, (names, shape) in enumerate(zip(read.names, read.shapes, strict=True))
    ]
    end = Factor(name="result", letters=read.written(read.result), shape=read.shape)
    orders = [Order(steps=steps) for steps in _orders(operands, end)]
    return EinsumPlan(
        equation=read,
        left_to_right=orders[0],
        best=min(orders, key=lambda order: (order.flops, order.largest_intermediate)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class EinsumRun:
    """An einsum, run without data: its plan, and what ran underneath."""

    plan: EinsumPlan
    aten: tuple[AtenRow, ...]

    @property
    def copies(self) -> tuple[AtenRow, ...]:
        """The copies that nobody wrote: torch makes them before it multiplies."""
        return tuple(row for row in self.aten if row.name.startswith("aten.clone"))

    @property
    def hidden_bytes(self) -> int:
        """What these copies take together."""
        return sum(row.num_bytes for row in self.copies)


def run_einsum(text: str, lengths: Mapping[str, int], dtype: str) -> EinsumRun:
    """Run `torch.einsum` on tensors without data and tell what it did.

    Args:
        text: The equation, in the notation of torch or of einops.
        lengths: Of every index; "..." is one dimension here.
        dtype: Of all tensors.

    Raises:
        ValueError: If torch or einops refuses it, or a tensor is larger than an int64 can count.
    """
    plan = plan_einsum(text, lengths)
    shapes = enumerate(plan.equation.shapes)
    tensors = {f"x{at}": without_data(shape, dtype) for at, shape in shapes}
    ran = trace(f"torch.einsum('{plan.equation.torch}', {', '.join(tensors)})", tensors, ON_META)
    if ran.error:
        raise ValueError(ran.error.torch_message.strip() or ran.error.message)
    (step,) = ran.steps
    return EinsumRun(plan=plan, aten=step.aten)


def _orders(
    factors: list[Factor], end: Factor, number: int = 1
) -> Iterator[tuple[Contraction, ...]]:
    """Yield all orders, from left to right first: what comes of a pair stands in its place."""
    if len(factors) == 1:
        (x,) = factors
        additions = _additions(x, {*end.letters})
        yield (Contraction(factors=(x,), made=end, flops=0, additions=additions),)
        return
    for i in range(len(factors)):
        for j in range(i + 1, len(factors)):
            others = [*factors[:i], *factors[i + 1 : j], *factors[j + 1 :]]
            step = _pair(factors[i], factors[j], others, end, f"t{number}")
            if not others:
                yield (step,)
                return
            left = [*others[:i], step.made, *others[i:]]
            yield from ((step, *steps) for steps in _orders(left, end, number + 1))


def _pair(
    left: Factor, right: Factor, others: Sequence[Factor], end: Factor, name: str
) -> Contraction:
    # Where another operand has length 1, it does not wait to be multiplied along that axis.
    needed = {*end.letters, *(letter for each in others for letter in each.long_letters)}
    lengths = left.lengths | right.lengths
    summed = (left.long_letters & right.long_letters) - needed
    used = ((left.long_letters | right.long_letters) & needed) | summed
    letters = "".join(letter for letter in lengths if letter in needed)
    shape = tuple(lengths[letter] for letter in letters)
    return Contraction(
        factors=(left, right),
        made=Factor(name=name, letters=letters, shape=shape) if others else end,
        flops=(2 if summed else 1) * math.prod(lengths[letter] for letter in used),
        additions=_additions(left, needed | summed) + _additions(right, needed | summed),
    )


def _additions(x: Factor, kept: set[str]) -> int:
    """Return how many additions sum over all axes but those that are kept."""
    before = math.prod(x.lengths.values())
    after = math.prod(length for letter, length in x.lengths.items() if letter in kept)
    return max(before - after, 0)  # of no numbers, there is none
