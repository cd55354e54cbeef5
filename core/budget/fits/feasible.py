"""Which recipes fit on the devices at hand, the fastest first."""

from dataclasses import dataclass, replace
from typing import Final

from core.budget.cluster import DeviceSpec
from core.budget.fits.jobs import TRAINING_WAYS, Training, training_ways
from core.budget.item import Formula, Item, as_guessed, estimated
from core.budget.recipe import Checkpointing, TrainingRecipe
from core.budget.training.duration import training_time
from core.language import N_
from core.models.spec import ModelSpec

CHECKPOINTED: Final[tuple[Checkpointing, ...]] = ("none", "selective", "full")
SPEED: Final = Formula("num_tokens / seconds")
MFU: Final = 0.4
_SPEED: Final = N_("compute at 40 % of the dense peak, communication and waiting each beside it")


@dataclass(frozen=True, kw_only=True, slots=True)
class Feasible:
    """One recipe that fits."""

    way: str
    checkpointing: Checkpointing
    need: Item
    speed: Item  # tokens per second of all devices together, an estimate


def feasible(
    spec: ModelSpec, recipe: TrainingRecipe, device: DeviceSpec, num_devices: int
) -> tuple[Feasible, ...]:
    """Return the recipes that fit, of every way and checkpointing, the fastest first.

    States are sharded over the devices (ZeRO-3). Recipes whose products the device has no peak
    for are left out.
    """
    found = []
    recipe = replace(recipe, seq_len=min(recipe.seq_len, spec.seq_len))
    for checkpointing in CHECKPOINTED:
        ways = training_ways(replace(recipe, checkpointing=checkpointing))
        for way in TRAINING_WAYS:
            try:
                job = ways[way].on(num_devices)
                need = job.need(spec)
                if need.amount > device.memory_usable:
                    continue
                speed = _speed(spec, job, device)
            except ValueError:  # no peak for its dtype, or nothing for the adapters to adapt
                continue
            found.append(Feasible(way=way, checkpointing=checkpointing, need=need, speed=speed))
    return tuple(sorted(found, key=lambda each: each.speed.amount, reverse=True))


def _speed(spec: ModelSpec, job: Training, device: DeviceSpec) -> Item:
    num_tokens = job.recipe.num_tokens * job.recipe.accumulation * job.num_devices
    time = training_time(spec, job.recipe, job.cluster(device), num_tokens, MFU)
    speed = estimated(
        "tokens per second",
        SPEED,
        {"num_tokens": num_tokens, "seconds": time.amount},
        _SPEED,
        0.3,
        "tokens/s",
    )
    return as_guessed(speed, spec)
