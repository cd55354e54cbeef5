"""Sentences about whether a job fits on a device."""

from collections.abc import Mapping
from typing import Final

from core.budget.fits.jobs import Training
from core.budget.fits.matrix import Cell
from core.budget.fits.plane import MOST_DEVICES, PlaneName
from core.budget.fits.solve import Answer
from core.language import N_, _, ngettext
from core.units import format_bytes
from pages.budget.what_fits.inputs import Case
from pages.shared.settings import unit_system

_RECOMPUTE: Final = N_("Every device holds activations of its own: recompute them (Settings).")
_FEWER: Final = N_("Every device works on sequences of its own: fewer or shorter ones do.")
_WAYS_OUT: Final[Mapping[str, str]] = {
    "activations": _FEWER,
    "logits and loss": _FEWER,
    "KV cache": N_("The cache does not shrink with more devices than key heads: fewer tokens do."),
}
"""Name of what fails on any number of devices -> what helps."""


def context_note(case: Case) -> str:
    """Return that fewer tokens are counted than were asked for; "" if all are."""
    if case.read_tokens == case.tokens:
        return ""
    return _("{model} reads at most {longest} tokens: that many are counted.").format(
        model=case.model.spec.name, longest=f"{case.read_tokens:,}"
    )


def others_note(case: Case, plane: PlaneName) -> str:
    """Return that models of the picture are counted up to their own context; "" if none is cut."""
    cut = any(spec.seq_len < case.tokens for spec in case.models.values())
    return _("every model up to its own context") if cut and plane != "ways_devices" else ""


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
    said = {
        "close": _(
            "{what} may not fit: {need} of {capacity}, within the band; the first that fails: "
            "**{item}**."
        ),
        "too_big": _(
            "{what} does not fit: {need} of {capacity}; the first that fails: **{item}**."
        ),
    }[cell.verdict].format(**values)
    return f"{said} {enough(case, fewest)}"


def enough(case: Case, fewest: Answer) -> str:
    """Return how many devices would do, or what else would."""
    if not fewest.amount:
        none = _("No number of devices up to {most} is enough.").format(most=f"{MOST_DEVICES:,}")
        way_out = _way_out(case, fewest.reason)
        return f"{none} {way_out}" if way_out else none
    return ngettext(
        "{count} device is enough.", "{count} devices are enough.", fewest.amount
    ).format(count=fewest.amount)


def _way_out(case: Case, reason: str) -> str:
    recipe = case.job.recipe if isinstance(case.job, Training) else None
    if reason == "activations" and recipe is not None and recipe.checkpointing != "full":
        return _(_RECOMPUTE)
    return _(_WAYS_OUT[reason]) if reason in _WAYS_OUT else ""
