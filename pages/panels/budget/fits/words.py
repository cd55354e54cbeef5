"""Sentences about whether a job fits on a device."""

from collections.abc import Mapping
from typing import Final

from core.budget.fits.matrix import Cell
from core.budget.fits.solve import Answer
from core.language import N_, _, ngettext
from core.units import format_bytes
from pages.panels.budget.fits.inputs import Case
from pages.shared.settings import unit_system

_WAYS_OUT: Final[Mapping[str, str]] = {
    "activations": N_("Every device holds activations of its own: recompute them (Settings)."),
    "KV cache": N_("The cache does not shrink with more devices than key heads: fewer tokens do."),
}
"""Name of what fails on any number of devices -> what helps."""


def what(case: Case) -> str:
    """Return the job as it is spoken: "Serving Llama-2 13B in bf16"."""
    if case.work == "serve":
        return _("Serving {model} in {way}").format(model=case.model.spec.name, way=case.way)
    return _("Training {model} ({way})").format(model=case.model.spec.name, way=case.way)


def verdict(case: Case, cell: Cell, fewest: Answer) -> str:
    """Return whether it fits, with the numbers and the reason."""
    if cell.need is None:
        return cell.sentence
    unit = unit_system()
    values = {
        "what": _("{what} on one {device}").format(what=what(case), device=case.device.device.name),
        "need": format_bytes(cell.need.amount, unit),
        "capacity": format_bytes(cell.capacity, unit),
        "item": _(cell.reason),
    }
    if not cell.reason:
        if cell.verdict == "close":
            return _("{what} may fit: {need} of {capacity}, within the band.").format(**values)
        return _("{what} fits: {need} of {capacity}.").format(**values)
    said = _("{what} does not fit: {need} of {capacity}; the first that fails: **{item}**.").format(
        **values
    )
    return f"{said} {enough(fewest)}"


def enough(fewest: Answer) -> str:
    """Return how many devices would do."""
    if not fewest.amount:
        none = _("No number of devices up to {most} is enough.").format(most="1,024")
        return f"{none} {_(_WAYS_OUT[fewest.reason])}" if fewest.reason in _WAYS_OUT else none
    return ngettext(
        "{count} device is enough.", "{count} devices are enough.", fewest.amount
    ).format(count=fewest.amount)
