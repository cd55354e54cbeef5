"""What an optimizer keeps between steps, and what it needs for a moment while it steps.

State and step transient were measured on meta tensors with torch 2.13, and are measured again by
tests/core/budget/catalogue/test_optimizers.py; adam8bit is bitsandbytes' published layout.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from core.budget.item import Formula
from core.language import N_

NOTHING: Final = Formula("0")
ONE: Final = Formula("state_bytes * num_updated")
TWO: Final = Formula("2 * state_bytes * num_updated")
EIGHT_BIT: Final = Formula("2 * (num_updated + 4 * ceil(num_updated / 256))")
ROWS_AND_COLUMNS: Final = Formula("state_bytes * rows_and_columns")
MATRICES_ONCE: Final = Formula("state_bytes * (2 * num_updated - num_in_matrices)")

_MEASURED = N_("torch.optim 2.13, measured on meta tensors")


@dataclass(frozen=True, kw_only=True, slots=True)
class Optimizer:
    """One rule for updating weights.

    Attributes:
        label: Its name.
        state: The bytes of its state, from the sizes that it needs; step counts left out.
        foreach_copies: Copies of all parameters that a foreach step makes; None if it has no
            foreach step.
        loop_copies: Copies of one tensor, the largest, that a step of the plain loop makes.
        has_fused: Whether torch has a fused kernel for it, which makes no copy.
        source: Where the rule comes from.
    """

    label: str
    state: Formula
    foreach_copies: int | None
    loop_copies: int
    has_fused: bool
    source: str


OPTIMIZERS: Final[Mapping[str, Optimizer]] = MappingProxyType({
    "sgd": Optimizer(
        label="SGD", state=NOTHING, foreach_copies=0, loop_copies=0, has_fused=True,
        source=_MEASURED,
    ),
    "momentum": Optimizer(
        label=N_("SGD with momentum"),
        state=ONE, foreach_copies=0, loop_copies=0, has_fused=True, source=_MEASURED,
    ),
    "adagrad": Optimizer(
        label="AdaGrad", state=ONE, foreach_copies=2, loop_copies=2, has_fused=True,
        source=_MEASURED,
    ),
    "rmsprop": Optimizer(
        label="RMSProp", state=ONE, foreach_copies=1, loop_copies=2, has_fused=False,
        source=_MEASURED,
    ),
    "adam": Optimizer(
        label="Adam", state=TWO, foreach_copies=1, loop_copies=3, has_fused=True, source=_MEASURED,
    ),
    "adamw": Optimizer(
        label="AdamW", state=TWO, foreach_copies=1, loop_copies=3, has_fused=True, source=_MEASURED,
    ),
    "adam8bit": Optimizer(
        label=N_("8-bit Adam"),
        state=EIGHT_BIT, foreach_copies=None, loop_copies=0, has_fused=True,
        source=N_(
            "two 8-bit moments, an fp32 scale a block: of 256 in bitsandbytes since 0.44, of 2048 "
            "before and in Dettmers et al. 2021"
        ),
    ),
    "adafactor": Optimizer(
        label="Adafactor", state=ROWS_AND_COLUMNS, foreach_copies=1, loop_copies=2, has_fused=False,
        source=N_("Shazeer & Stern 2018: a row and a column of sums for each matrix"),
    ),
    "muon": Optimizer(
        label="Muon", state=MATRICES_ONCE, foreach_copies=None, loop_copies=3, has_fused=False,
        source=N_("Jordan et al. 2024: one moment for each matrix of a layer; AdamW for the rest"),
    ),
})  # fmt: skip
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
