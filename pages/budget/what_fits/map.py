"""The matrix: one plane of it, the square picked out, and where to go from there."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from core.budget.fits.matrix import row
from core.budget.fits.plane import (
    MOST_DEVICES,
    Plane,
    PlaneName,
    models_devices,
    models_ways,
    ways_devices,
)
from core.budget.fits.solve import min_devices
from core.figures.budget.what_fits.fits_map import fits_alt, fits_map, fits_table, letters_sentence
from core.figures.budget.what_fits.fits_squares import Labels
from pages.budget.what_fits.inputs import OWN, PAGE, Case, Work
from pages.budget.what_fits.names import device_name, model_name
from pages.budget.what_fits.words import context_note, others_note, verdict
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.inputs import Inputs
from pages.shared.settings import presenting, theme_mode, unit_system

_MAP: Final = f"{PAGE}_map"


def make_plane(case: Case, name: PlaneName) -> Plane:
    """Return the plane through the chosen model, way or device."""
    if name == "models_devices":
        return models_devices(case.models, case.job, case.devices)
    if name == "ways_devices":
        return ways_devices(case.model.spec, case.ways, case.devices)
    return models_ways(case.models, case.ways, case.device.device)


def plane_labels(case: Case, plane: Plane) -> Labels:
    """Return what stands beside rows and columns, and which square is picked out."""
    model, device = case.model.key or OWN, case.device.key or OWN
    models = {key: model_name(case, key) for key in plane.rows if key in case.models}
    devices = {key: device_name(case, key) for key in plane.columns if key in case.devices}
    ways = {key: key for key in case.ways}
    rows = {"ways_devices": ways}.get(plane.name, models)
    columns = {"models_ways": ways}.get(plane.name, devices)
    chosen = {
        "models_devices": (model, device),
        "ways_devices": (case.way, device),
        "models_ways": (model, case.way),
    }[plane.name]
    return Labels(rows=rows, columns=columns, chosen=chosen)


def show_map(case: Case, name: PlaneName) -> None:
    """Show one plane of the matrix, and beside it the square that is picked out."""
    (cell,) = row(case.model.spec, case.job, [case.device.device])
    fewest = min_devices(case.model.spec, case.job, case.device.device, MOST_DEVICES)
    headline(verdict(case, cell, fewest))
    if note := context_note(case):
        st.caption(note)
    plane = make_plane(case, name)
    labels = plane_labels(case, plane)
    show_chart(
        fits_map(plane, labels, unit_system(), theme_mode(), present=presenting()),
        key=_MAP,
        alt=fits_alt(plane, labels),
        table=fits_table(plane, labels),
        file_name="what-fits",
        on_click=partial(take_over, case.work, name),
    )
    st.caption(" · ".join(filter(None, [letters_sentence(plane), others_note(case, name)])))


def take_over(work: Work, name: PlaneName, clicked: Sequence[Any]) -> None:
    """Take over the square that was clicked: two of the three choices of the page."""
    first, second = clicked[:2]
    way = "format" if work == "serve" else "recipe"
    choices = {
        "models_devices": (("model", first), ("device", second)),
        "ways_devices": ((way, first), ("device", second)),
        "models_ways": (("model", first), (way, second)),
    }[name]
    for setting, key in choices:
        Inputs(PAGE).set(setting, key)
