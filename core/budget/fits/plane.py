"""One plane through the matrix of models, ways and devices: what a screen can show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from core.budget.cluster import DeviceSpec
from core.budget.fits.jobs import Job
from core.budget.fits.matrix import Cell, row
from core.budget.fits.solve import group_needs
from core.models.spec import ModelSpec

PlaneName = Literal["models_devices", "models_ways", "ways_devices"]
MOST_DEVICES: Final = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Plane:
    """Rows and columns of one picture.

    Attributes:
        rows: Keys of models or ways, from the top.
        columns: Keys of devices or ways, from the left.
        fewest: The fewest devices, of powers of two, that hold the job; 0 if none do.
    """

    name: PlaneName
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    fewest: Mapping[tuple[str, str], int]


def models_devices(
    models: Mapping[str, ModelSpec], job: Job, devices: Mapping[str, DeviceSpec]
) -> Plane:
    """Return models in rows and devices in columns, for one way."""
    lines = {model: (spec, job) for model, spec in models.items()}
    return _plane("models_devices", lines, devices)


def ways_devices(
    spec: ModelSpec, ways: Mapping[str, Job], devices: Mapping[str, DeviceSpec]
) -> Plane:
    """Return ways in rows and devices in columns, for one model."""
    lines = {way: (spec, job) for way, job in ways.items()}
    return _plane("ways_devices", lines, devices)


def models_ways(
    models: Mapping[str, ModelSpec], ways: Mapping[str, Job], device: DeviceSpec
) -> Plane:
    """Return models in rows and ways in columns, for one device."""
    cells, fewest = {}, {}
    for model, spec in models.items():
        for way, job in ways.items():
            (cell,) = row(spec, job, [device])
            cells[model, way] = cell
            (fewest[model, way],) = _fewest(spec, job, [cell])
    return Plane(
        name="models_ways",
        rows=tuple(models),
        columns=tuple(ways),
        cells=cells,
        fewest=fewest,
    )


def _plane(
    name: PlaneName,
    lines: Mapping[str, tuple[ModelSpec, Job]],
    devices: Mapping[str, DeviceSpec],
) -> Plane:
    cells, fewest = {}, {}
    for line, (spec, job) in lines.items():
        found = row(spec, job, devices.values())
        numbers = _fewest(spec, job, found)
        for device, cell, number in zip(devices, found, numbers, strict=True):
            cells[line, device] = cell
            fewest[line, device] = number
    return Plane(name=name, rows=tuple(lines), columns=tuple(devices), cells=cells, fewest=fewest)


def _fewest(spec: ModelSpec, job: Job, cells: list[Cell]) -> list[int]:
    """Return the fewest devices for each cell; the needs of a number are worked out once."""
    found = [0] * len(cells)
    for number, need in group_needs(spec, job, MOST_DEVICES):
        for place, cell in enumerate(cells):
            if not found[place] and need.amount <= cell.capacity:
                found[place] = number
        if all(found):
            break
    return found
