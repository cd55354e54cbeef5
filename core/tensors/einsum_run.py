"""An einsum, planned and run without data: what torch multiplies, and what it copies in secret."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.expressions import ON_META
from core.language import _
from core.tensors.einsum import EinsumPlan, plan_einsum
from core.tensors.einsum_equation import names_in
from core.tensors.presets import without_data
from core.tensors.trace import AtenRow, trace

MAX_OPERANDS: Final = 3
MAX_INDICES: Final = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class EinsumRun:
    """An einsum, run without data.

    Attributes:
        names: Of the indices of each tensor; "..." is one of them.
        result: Names of the result.
        plan: Orders of products, and the lengths.
        num_bytes: Of the result.
        aten: What ran underneath.
    """

    names: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]
    plan: EinsumPlan
    num_bytes: int
    aten: tuple[AtenRow, ...]

    @property
    def indices(self) -> tuple[str, ...]:
        """All indices in order of appearance."""
        return _each_once(self.names)

    @property
    def summed(self) -> tuple[str, ...]:
        """Those that the result does not name."""
        return tuple(name for name in self.indices if name not in self.result)

    @property
    def einops(self) -> str:
        """As einops writes it: names with spaces."""
        sides = (", ".join(" ".join(each) for each in self.names), " ".join(self.result))
        return " -> ".join(sides).rstrip()

    @property
    def copies(self) -> tuple[AtenRow, ...]:
        """The copies that nobody wrote: torch makes them before it multiplies."""
        return tuple(row for row in self.aten if row.name.startswith("aten.clone"))

    @property
    def hidden_bytes(self) -> int:
        """What these copies take together."""
        return sum(row.num_bytes for row in self.copies)


def indices_in(text: str) -> tuple[str, ...]:
    """Return the indices of an equation in order of appearance; "..." is one of them.

    Raises:
        ValueError: If there are too many tensors or indices, or no arrow.

    >>> indices_in("bqd,bkd->bqk"), indices_in("b q d, b k d -> b q k")
    (('b', 'q', 'd', 'k'), ('b', 'q', 'd', 'k'))
    """
    names, end, _notation = names_in(text)
    if end is None:
        raise ValueError(_("An einsum needs one arrow: ij,jk->ik or i j, j k -> i k."))
    if len(names) > MAX_OPERANDS:
        message = _("The equation has {count} tensors; at most {limit} are supported here.")
        raise ValueError(message.format(count=len(names), limit=MAX_OPERANDS))
    indices = _each_once(names)
    if not 1 <= len(indices) <= MAX_INDICES:
        message = _("The equation names {count} indices; use 1 to {limit}.")
        raise ValueError(message.format(count=len(indices), limit=MAX_INDICES))
    return indices


def _each_once(names: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in names for name in each))


def run_einsum(text: str, lengths: Mapping[str, int], dtype: str) -> EinsumRun:
    """Run `torch.einsum` on tensors without data and tell what it did.

    Args:
        text: The equation, in the notation of torch or of einops.
        lengths: Of every index; "..." is one dimension here.
        dtype: Of all tensors.

    Raises:
        ValueError: If torch or einops refuses it, or a tensor is larger than an int64 can count.
    """
    names = tuple(map(tuple, names_in(text)[0]))
    shapes = [tuple(lengths[name] for name in each) for each in names]
    plan = plan_einsum(text, shapes)
    tensors = {f"x{at}": without_data(shape, dtype) for at, shape in enumerate(shapes)}
    ran = trace(f"torch.einsum('{plan.equation.torch}', {', '.join(tensors)})", tensors, ON_META)
    if ran.error:
        raise ValueError(ran.error.torch_message.strip() or ran.error.message)
    (step,) = ran.steps
    pairs = zip(plan.axes, _each_once(names), strict=True)
    name_of = {axis.letter: name for axis, name in pairs}
    return EinsumRun(
        names=names,
        result=tuple(name_of[letter] for letter in plan.equation.result),
        plan=plan,
        num_bytes=step.outputs[0].layout.num_bytes,
        aten=step.aten,
    )
