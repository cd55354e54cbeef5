"""How fast a planned training is: its MFU with a band, and the hours and the cost that follow."""

from dataclasses import replace
from typing import Final

from core.budget.item import Formula, Item, item
from core.budget.planning.plan import Plan
from core.budget.training.duration import COST, PRICE, reached_mfu, training_time
from core.language import N_

KERNELS: Final = (0.4, 0.5, 0.6)
"""The least, expected and highest share of the dense peak that the products reach as they run."""
HIDDEN: Final = (0.0, 0.5, 1.0)
"""The least, expected and highest share of the communication that is hidden behind compute."""
SECONDS: Final = Formula("model_flops * num_steps * data_ranks / (num_devices * peak * mfu)")
PINNED: Final = Formula("mfu")
_EXPECTED: Final = N_(
    "products at 40 to 60 % of the dense peak, with none to all of the communication hidden; what "
    "is recomputed counts as no progress. Llama 3 herd, table 4: 38 to 43 % with nothing recomputed"
)
_PINNED: Final = N_("as you have pinned it")
_SECONDS: Final = N_("the model's own FLOPs at that share of the peak of all devices")


def plan_mfu(plan: Plan) -> Item:
    """Return the share of the peak that a training reaches: pinned, or computed with a band.

    Raises:
        ValueError: If the device's peak is not known, or a link carries nothing.
    """
    if plan.mfu:
        return item(N_("MFU"), PINNED, {"mfu": plan.mfu}, unit="1", source=_PINNED, kind="claimed")
    low, middle, high = (_reached(plan, *pair) for pair in zip(KERNELS, HIDDEN, strict=True))
    return replace(
        middle, low=min(low.low, low.amount), high=high.amount, source=_EXPECTED, kind="estimated"
    )


def _reached(plan: Plan, kernels: float, hidden: float) -> Item:
    cluster = replace(plan.cluster, overlap=hidden)
    args = (plan.spec, plan.accumulated, cluster, plan.num_tokens)
    return reached_mfu(*args, training_time(*args, kernels).amount)


def plan_seconds(plan: Plan, mfu: Item) -> Item:
    """Return the seconds of a training at an MFU, with its band.

    Raises:
        ValueError: As `plan_mfu`.
    """
    one = reached_mfu(plan.spec, plan.accumulated, plan.cluster, plan.num_tokens, 1.0)
    values = {name: value for name, value in one.values.items() if name != "seconds"}
    found = item(
        N_("training time"), SECONDS, values | {"mfu": mfu.amount},
        unit="s", source=_SECONDS, kind=mfu.kind,
    )  # fmt: skip
    return replace(
        found,
        low=found.amount * mfu.amount / mfu.high,
        high=found.amount * mfu.amount / mfu.low if mfu.low else found.amount,
        guess=one.guess,
    )


def plan_cost(plan: Plan, seconds: Item) -> Item:
    """Return what the devices cost for that long, in USD, as sure as the seconds."""
    values = {
        "num_devices": plan.num_devices,
        "seconds": seconds.amount,
        "price_per_hour": plan.price_per_hour,
    }
    found = item(N_("cost"), COST, values, unit="USD", source=PRICE, kind=seconds.kind)
    below, above = seconds.band
    return replace(
        found, low=found.amount * (1 - below), high=found.amount * (1 + above), guess=seconds.guess
    )
