"""The matrix of models, ways and devices: one plane of it, and the square that is picked out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, Final

import streamlit as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import DeviceSpec
from core.budget.fits.jobs import SERVING_FORMATS, Training
from core.budget.fits.matrix import Cell, row
from core.budget.fits.plane import (
    MOST_DEVICES,
    Plane,
    PlaneName,
    models_devices,
    models_ways,
    ways_devices,
)
from core.budget.fits.solve import Answer, min_devices
from core.budget.item import Item, hedged
from core.budget.weights.parameters import counts
from core.figures.budget.what_fits.map import Labels, count_sentence, map_picture, signs
from core.language import N_, _, ngettext
from core.models.spec import ModelSpec
from pages.plan.what_fits.detail import show_detail
from pages.plan.what_fits.inputs import ASK, Case, Work, note_context, what
from pages.shared.plan.choices import RELEASED
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

OWN: Final = "own"  # the reader's own model or device in a picture
_FEW_MODELS: Final = (
    *("gpt2-xl", "llama-3.2-3b", "llama-2-7b", "llama-3.1-8b", "llama-2-13b", "qwen2.5-32b"),
    *("mixtral-8x7b", "llama-2-70b", "llama-3.1-405b", "deepseek-v3"),
)
_FEWEST_MODELS: Final = (
    *("llama-2-7b", "llama-2-13b", "qwen2.5-32b", "llama-2-70b", "llama-3.1-405b"),
    "deepseek-v3",
)
_FEW_DEVICES: Final = (
    *("t4", "l4", "rtx-4090", "rtx-5090", "a100-40gb", "l40s", "h100-sxm", "m4-max"),
    *("h200-sxm", "b200", "mi300x", "mi355x"),
)
_FEWEST_DEVICES: Final = (
    *("rtx-4090", "rtx-5090", "a100-40gb", "h100-sxm", "h200-sxm", "b200", "mi300x"),
)
_MEMORY_IN_NAME: Final = re.compile(r" \d+ GB$")
_RECOMPUTE: Final = N_("Every device holds activations of its own: recompute them (Settings).")
_FEWER: Final = N_("Every device works on sequences of its own: fewer or shorter ones do.")
_WAYS_OUT: Final[Mapping[str, str]] = {
    "activations": _FEWER,
    "logits and loss": _FEWER,
    "KV cache": N_("The cache does not shrink with more devices than key heads: fewer tokens do."),
}
"""Name of what fails on any number of devices -> what helps."""


def fits_map(case: Case) -> Shown:
    """Show one plane of the matrix, and below it the square that is picked out."""
    name = case.axes
    (cell,) = row(case.model.spec, case.job, [case.device.device])
    fewest = min_devices(case.model.spec, case.job, case.device.device, MOST_DEVICES)
    note_context(case)
    models, devices = models_of(case), devices_of(case)
    plane = {
        "models_devices": partial(models_devices, models, case.job, devices),
        "ways_devices": partial(ways_devices, case.model.spec, case.ways, devices),
        "models_ways": partial(models_ways, models, case.ways, case.device.device),
    }[name]()
    model, device = case.model.key or OWN, case.device.key or OWN
    model_names = {key: spec.name for key, spec in models.items()}
    device_names = {key: device_name(spec) for key, spec in devices.items()}
    ways = {key: key for key in case.ways}
    rows, columns, chosen = {
        "models_devices": (model_names, device_names, (model, device)),
        "ways_devices": (ways, device_names, (case.way, device)),
        "models_ways": (model_names, ways, (model, case.way)),
    }[plane.name]
    labels = Labels(rows=rows, columns=columns, chosen=chosen)
    chart = Chart(
        picture=map_picture(plane, labels, look()),
        file_name="what-fits",
        on_click=partial(take_over, case.work, name),
    )
    fewer = note_fewer(devices) if case.all_in_picture and name != "models_ways" else ""
    said = [others_note(models.values(), case.tokens, name), fewer]
    st.html(legend_html(plane, labels))
    helps = "" if fewest.amount or cell.need is None else way_out(case, fewest.reason)
    return Shown(
        headline=verdict(case, cell, fewest),
        charts=[chart],
        notes=[*filter(None, [helps, " · ".join(filter(None, said))])],
        below=partial(show_detail, case),
    )


def legend_html(plane: Plane, labels: Labels) -> str:
    """Return what the signs and colours mean, for above the squares."""
    parts = [
        f'<span><b style="--cause:var(--b2g-{sign.color.replace("_", "-")})">'
        f"{escape(sign.text)}</b> {escape(sign.name)}</span>"
        for sign in signs(plane)
    ]
    return f"""<div class="fits-legend">{"".join(parts)}<span>· {
        escape(count_sentence(plane, labels, look()))
    }</span></div>"""


def models_of(case: Case) -> dict[str, ModelSpec]:
    """Return the models of the picture, small to large."""
    keys = MODELS if case.all_in_picture else _FEWEST_MODELS if presenting() else _FEW_MODELS
    found = {key: MODELS[key] for key in keys} | {case.model.key or OWN: case.model.spec}
    return dict(sorted(found.items(), key=lambda pair: counts(pair[1]).total))


def devices_of(case: Case) -> dict[str, DeviceSpec]:
    """Return the devices of the picture, small to large; a projector has no room for all."""
    many, few = (_FEW_DEVICES, _FEWEST_DEVICES) if presenting() else (DEVICES, _FEW_DEVICES)
    keys = many if case.all_in_picture else few
    found = {key: DEVICES[key] for key in keys} | {case.device.key or OWN: case.device.device}
    return dict(sorted(found.items(), key=lambda pair: pair[1].memory_usable))


def note_fewer(devices: Mapping[str, DeviceSpec]) -> str:
    """Return that a projector shows not all devices; "" where they are all there."""
    if len(devices) >= len(DEVICES):
        return ""
    return _("{count} of {all} devices: more have no room on a projector").format(
        count=len(devices), all=len(DEVICES)
    )


def device_name(device: DeviceSpec) -> str:
    """Return a device's name and memory where there is little room: "A100 SXM, 80 GiB"."""
    number, unit = look().format_bytes(device.memory_sold).split(" ")
    name = _MEMORY_IN_NAME.sub("", device.name.partition(" (")[0])
    return f"{name}, {round(float(number))} {unit}"


def others_note(models: Iterable[ModelSpec], tokens: int, plane: PlaneName) -> str:
    """Return that models of the picture are counted up to their own context; "" if none is cut."""
    cut = any(spec.seq_len < tokens for spec in models)
    return _("every model up to its own context") if cut and plane != "ways_devices" else ""


def take_over(work: Work, name: PlaneName, clicked: Sequence[Any]) -> None:
    """Take over the square that was clicked: two of the three choices of the page."""
    way = "format" if work == "serve" else "recipe"
    settings = {
        "models_devices": ("model", "device"),
        "ways_devices": (way, "device"),
        "models_ways": ("model", way),
    }[name]
    for setting, key in zip(settings, clicked[:2], strict=True):
        is_own_way = setting == "format" and key not in SERVING_FORMATS
        ASK.set(setting, RELEASED if is_own_way else key)


def verdict(case: Case, cell: Cell, fewest: Answer) -> str:
    """Return whether it fits, with the numbers and the reason."""
    if cell.need is None:
        return cell.sentence
    values = {
        "what": _("{what} on one {device}").format(what=what(case), device=case.device.device.name),
        "need": look().format_bytes(cell.need.amount),
        "about": _hedged(cell.need),
        "capacity": look().format_bytes(cell.capacity),
        "item": _(cell.reason),
    }
    if not cell.reason:
        if cell.verdict == "close":
            return _("{what} may fit: {about} needed, {capacity} usable.").format(**values)
        return _("{what} fits: {need} needed, {capacity} usable.").format(**values)
    said = {
        "close": _(
            "{what} may not fit: {about} needed, {capacity} usable; first to fail: **{item}**."
        ),
        "too_big": _(
            "{what} does not fit: {need} needed, {capacity} usable; first to fail: **{item}**."
        ),
    }[cell.verdict].format(**values)
    return _("{verdict} {enough}").format(
        verdict=said, enough=enough(fewest, is_guess=cell.is_guess)
    )


def _hedged(need: Item) -> str:
    """Return what is needed as one says it of a borderline case or a guess."""
    text = look().format_bytes(need.amount)
    return hedged(text, need) if need.guess else _("about {amount}").format(amount=text)


def enough(fewest: Answer, *, is_guess: bool = False) -> str:
    """Return how many devices would do, or may."""
    if is_guess and fewest.amount:
        return ngettext(
            "{count} device may be enough.", "{count} devices may be enough.", fewest.amount
        ).format(count=fewest.amount)
    if is_guess:
        return _("Perhaps no number of devices up to {most} is enough.").format(
            most=f"{MOST_DEVICES:,}"
        )
    if not fewest.amount:
        return _("No number of devices up to {most} is enough.").format(most=f"{MOST_DEVICES:,}")
    return ngettext(
        "{count} device is enough.", "{count} devices are enough.", fewest.amount
    ).format(count=fewest.amount)


def way_out(case: Case, reason: str) -> str:
    """Return what helps where no number of devices does; "" if nothing is known to."""
    recipe = case.job.recipe if isinstance(case.job, Training) else None
    if reason == "activations" and recipe is not None and recipe.checkpointing != "full":
        return _(_RECOMPUTE)
    return _(_WAYS_OUT[reason]) if reason in _WAYS_OUT else ""
