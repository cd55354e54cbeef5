"""At which moment of a training step so many bytes are in tensors."""

from collections.abc import Sequence

from core.budget.diagnosis.out_of_memory import Told
from core.budget.item import Item, total
from core.budget.planning.plan import Plan
from core.budget.training.memory import OVERHEADS
from core.language import N_

_SOURCE = N_("what stays for the whole step, and what this moment adds")
PEAK = "step peak"


def step_totals(plan: Plan) -> tuple[Item, ...]:
    """Return the bytes in tensors at each moment of a step on the most loaded device.

    In the order of the step. What the allocator and the communication library add is not in them.

    Raises:
        ValueError: If the model cannot be split as the plan asks.
    """
    need = plan.need
    stays = [part for part in need.children if part.name not in (*OVERHEADS, PEAK)]
    return tuple(
        total(moment.name, (*stays, *moment.children), source=_SOURCE)
        for moment in need.child(PEAK).children
    )


def moment_of(allocated: Told, moments: Sequence[Item]) -> Item | None:
    """Return the moment whose bytes were allocated, within their band; None if none has them.

    Of several the nearest.
    """
    fitting = [
        each
        for each in moments
        if each.low - allocated.error <= allocated.num_bytes <= each.high + allocated.error
    ]
    return min(fitting, key=lambda each: abs(each.amount - allocated.num_bytes), default=None)
