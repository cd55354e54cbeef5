"""A training budget on one device, as the simulation runs it: moments and peak."""

from dataclasses import dataclass, replace

from core.budget.comparison.scenario import Scenario
from core.budget.item import Item, total
from core.budget.training.training_budget import OVERHEADS, training_budget
from core.language import N_

_SOURCE = N_("closed form: what lives between steps and the largest moment of the step")


@dataclass(frozen=True, kw_only=True, slots=True)
class OneDevice:
    """What one device holds when it trains the whole model.

    Attributes:
        peak: The bytes that operations ask for at the highest moment: no allocator's reserve.
        moments: Name and parts of each moment that can be the peak.
        largest: Name of the one that is.
        capacity: Bytes that a process can get on the device.
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
    cluster = replace(
        case.cluster,
        num_devices=1,
        zero_stage=0,
        tensor=1,
        sequence_parallel=False,
        pipeline=1,
        expert=1,
    )
    budget = training_budget(case.spec, case.recipe, cluster)
    parts = [part for part in budget.item.children if part.name not in OVERHEADS]
    step = budget.item.child("step peak")
    standing = tuple(part for part in parts if part is not step)
    return OneDevice(
        peak=total("peak", parts, source=_SOURCE),
        moments=tuple((moment.name, (*standing, *moment.children)) for moment in step.children),
        largest=max(step.children, key=lambda moment: moment.amount).name,
        capacity=budget.capacity,
    )
