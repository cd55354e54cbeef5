"""One plane through the matrix of models, ways and devices: what a screen can show."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, Literal

from core.budget.cluster import DeviceSpec
from core.budget.fits.jobs import Job
from core.budget.fits.matrix import Cell, first_failing, row
from core.budget.fits.solve import group_needs
from core.models.spec import ModelSpec

PlaneName = Literal["models_devices", "models_ways", "ways_devices"]
MOST_DEVICES: Final = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Plane:
    """Rows and columns of one picture."""

    name: PlaneName
    rows: tuple[str, ...]  # keys of models or ways, from the top
    columns: tuple[str, ...]  # keys of devices or ways, from the left
    cells: Mapping[tuple[str, str], Cell]
    # the fewest devices that hold the job; 0 if none do: then a cell's reason is what fails on the
    # largest number
    fewest: Mapping[tuple[str, str], int]


def models_devices(
    models: Mapping[str, ModelSpec], job: Job, devices: Mapping[str, DeviceSpec]
) -> Plane:
    """Return models in rows and devices in columns, for one way."""
    return _plane("models_devices", models, {"": job}, devices)


def ways_devices(
    spec: ModelSpec, ways: Mapping[str, Job], devices: Mapping[str, DeviceSpec]
) -> Plane:
    """Return ways in rows and devices in columns, for one model."""
    return _plane("ways_devices", {"": spec}, ways, devices)


def models_ways(
    models: Mapping[str, ModelSpec], ways: Mapping[str, Job], device: DeviceSpec
) -> Plane:
    """Return models in rows and ways in columns, for one device."""
    return _plane("models_ways", models, ways, {"": device})


def _plane(
    name: PlaneName,
    models: Mapping[str, ModelSpec],
    ways: Mapping[str, Job],
    devices: Mapping[str, DeviceSpec],
) -> Plane:
    axes = {"models": tuple(models), "ways": tuple(ways), "devices": tuple(devices)}
    rows, columns = name.split("_")
    cells, fewest = {}, {}
    for (model, spec), (way, job) in product(models.items(), ways.items()):
        found = _fewest(spec, job, row(spec, job, devices.values()))
        for device, (cell, number) in zip(devices, found, strict=True):
            at = {"models": model, "ways": way, "devices": device}
            cells[at[rows], at[columns]] = cell
            fewest[at[rows], at[columns]] = number
    return Plane(name=name, rows=axes[rows], columns=axes[columns], cells=cells, fewest=fewest)


def _fewest(spec: ModelSpec, job: Job, cells: list[Cell]) -> list[tuple[Cell, int]]:
    """Return the fewest devices for each cell; the needs of a number are worked out once.

    Where no number is enough, the cell's reason is what fails on the largest one.
    """
    numbers, reasons = [0] * len(cells), [cell.reason for cell in cells]
    for number, need in group_needs(spec, job, MOST_DEVICES):
        for place, cell in enumerate(cells):
            failing = first_failing(need, cell.capacity)
            if failing is not None and not numbers[place]:
                reasons[place] = failing.name
            elif not numbers[place]:
                numbers[place] = number
        if all(numbers):
            break
    found = zip(cells, numbers, reasons, strict=True)
    return [
        (cell if number else replace(cell, reason=reason), number) for cell, number, reason in found
    ]
