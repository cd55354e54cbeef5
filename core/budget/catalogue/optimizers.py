"""What an optimizer keeps between steps, and what it needs for a moment while it steps.

State and step transient were measured on meta tensors with torch 2.13, and are measured again by
tests/core/budget/catalogue/test_optimizers.py; adam8bit is bitsandbytes' published layout.
"""

from dataclasses import dataclass
from typing import Any, Final

from core.budget.item import Formula
from core.budget.table import read_table


@dataclass(frozen=True, kw_only=True, slots=True)
class Optimizer:
    """One rule for updating weights.

    Attributes:
        state: The bytes of its state, from the sizes that it needs; step counts left out.
        foreach_copies: Copies of all parameters that a foreach step makes; None if it has no
            foreach step.
        loop_copies: Copies of one tensor, the largest, that a step of the plain loop makes.
        has_fused: Whether torch has a fused kernel for it, which makes no copy.
    """

    label: str
    state: Formula
    foreach_copies: int | None = None
    loop_copies: int
    has_fused: bool
    source: str


def _optimizer(row: dict[str, Any]) -> Optimizer:
    return Optimizer(state=Formula(row.pop("state")), **row)


OPTIMIZERS: Final = {key: _optimizer(row) for key, row in read_table(__file__).items()}
"""Key, as in a link -> optimizer."""


def walk(optimizer: Optimizer, step_kind: str) -> str:
    """Return how the optimizer really steps: as asked, or in a loop where torch has no such step.

    >>> walk(OPTIMIZERS["muon"], "foreach"), walk(OPTIMIZERS["adamw"], "fused")
    ('for_loop', 'fused')
    """
    if step_kind == "foreach" and optimizer.foreach_copies is None:
        return "fused" if optimizer.has_fused else "for_loop"
    if step_kind == "fused" and not optimizer.has_fused:
        return "for_loop"
    return step_kind
