"""What fits where: models x ways x devices, with the item that is the first not to fit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.budget.budget import Verdict, verdict_of
from core.budget.cluster import DeviceSpec
from core.budget.fits.jobs import Job
from core.budget.item import Item, is_uncertain
from core.models.spec import ModelSpec

Where = tuple[str, str, str]  # model, way, device


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One job on one device."""

    # the bytes of the most loaded device, as a tree; None if the job cannot be split
    need: Item | None
    capacity: float
    # "fits" even at the upper end of the band, "too_big" even at the lower, else "close", as
    # everything about a guess
    verdict: Verdict
    reason: str = ""  # name of the first item that does not fit; "" if all do
    sentence: str = ""  # why the job cannot be split; "" if it can

    @property
    def is_guess(self) -> bool:
        """Whether the need is a guess."""
        return self.need is not None and self.need.guess


def matrix(
    models: Mapping[str, ModelSpec], ways: Mapping[str, Job], devices: Mapping[str, DeviceSpec]
) -> Mapping[Where, Cell]:
    """Return a cell for each model, way and device. Each need is worked out once."""
    found: dict[Where, Cell] = {}
    for model, spec in models.items():
        for way, job in ways.items():
            for device, cell in zip(devices, row(spec, job, devices.values()), strict=True):
                found[model, way, device] = cell
    return found


def row(spec: ModelSpec, job: Job, devices: Iterable[DeviceSpec]) -> list[Cell]:
    """Return the cells of one job on several devices; a job that cannot be split says why."""
    try:
        need = job.need(spec)
    except ValueError as error:
        return [
            Cell(
                need=None,
                capacity=device.memory_usable,
                verdict="close" if is_uncertain(spec) else "too_big",
                sentence=str(error),
            )
            for device in devices
        ]
    return [_cell(need, device) for device in devices]


def _cell(need: Item, device: DeviceSpec) -> Cell:
    capacity = device.memory_usable
    failing = first_failing(need, capacity) if need.amount > capacity else None
    return Cell(
        need=need,
        capacity=capacity,
        verdict=verdict_of(need, capacity, device.memory_band),
        reason=failing.name if failing else "",
    )


def lines(need: Item) -> list[Item]:
    """Return the items that fill the memory together, in order.

    Of a maximum, such as the moments of a step, only the largest part counts.
    """
    found: list[Item] = []
    for part in need.children or (need,):
        if part.combine == "max" and part.children:
            found += lines(max(part.children, key=lambda child: child.amount))
        else:
            found.append(part)
    return found


def first_failing(need: Item, capacity: float) -> Item | None:
    """Return the first line that does not fit beside those before it; None if all do."""
    filled = 0.0
    for part in lines(need):
        filled += part.amount
        if filled > capacity:
            return part
    return None
