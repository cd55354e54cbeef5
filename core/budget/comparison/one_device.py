"""A training budget on one device, beside a simulated step and the reader's own measurement."""

from dataclasses import dataclass
from typing import Final

from core.budget.check import check_range
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, item, total
from core.budget.training.memory import OVERHEADS, training_budget
from core.budget.training.scenario import Scenario
from core.language import N_

CALIBRATED: Final = Formula("estimate * measured / estimate")
MAX_RATIO: Final = 100  # beyond this the two do not measure the same thing

_CLOSED_FORM: Final = N_("closed form: what lives between steps and the largest moment of the step")
_MEASURED: Final = N_(
    "the reader's own measurement, as a ratio to the estimate for the same setting"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class OneDevice:
    """What one device holds when it trains the whole model.

    Attributes:
        peak: The bytes that operations ask for at the highest moment: no allocator's reserve.
        moments: Name and parts of each moment that can be the peak.
    """

    peak: Item
    moments: tuple[tuple[str, tuple[Item, ...]], ...]
    largest: str
    capacity: float


def on_one_device(case: Scenario) -> OneDevice:
    """Return the closed form of a scenario without its layout over several devices.

    Raises:
        ValueError: If model and recipe cannot go together; the sentence says why.
    """
    budget = training_budget(case.spec, case.recipe, Cluster(device=case.cluster.device))
    parts = [part for part in budget.item.children if part.name not in OVERHEADS]
    step = budget.item.child("step peak")
    standing = tuple(part for part in parts if part is not step)
    return OneDevice(
        peak=total("peak", parts, source=_CLOSED_FORM),
        moments=tuple((moment.name, (*standing, *moment.children)) for moment in step.children),
        largest=max(step.children, key=lambda moment: moment.amount).name,
        capacity=budget.capacity,
    )


def calibrate(estimate: Item, measured: float) -> Item:
    """Return an estimate times the ratio that the reader's measurement of the same setting found.

    Raises:
        ValueError: If measurement and estimate are more than 100 times apart.
    """
    expected = float(estimate.amount)
    check_range("measured", measured, expected / MAX_RATIO, expected * MAX_RATIO)
    values = {"estimate": estimate.amount, "measured": measured}
    return item(
        estimate.name, CALIBRATED, values, unit=estimate.unit, source=_MEASURED, kind="measured"
    )
