"""The recipes that fit on the devices at hand, as a table, the fastest first."""

import streamlit as st

from core.budget.fits.feasible import MFU, Feasible, feasible
from core.budget.fits.jobs import Training
from core.language import _
from core.units import format_bytes, format_percent
from pages.budget.what_fits.inputs import Case, checkpointing_label, way_label
from pages.shared.charts import table_markdown
from pages.shared.numbers import written
from pages.shared.settings import unit_system


def show_recipes(case: Case, num_devices: int) -> None:
    """Show every way and checkpointing that fits on so many devices, if the job is training."""
    if not isinstance(case.job, Training):
        return
    found = feasible(case.model.spec, case.job.recipe, case.device.device, num_devices)
    where = f"{num_devices:,} × {case.device.device.name}"
    if not found:
        st.caption(_("No recipe of this list fits on {devices}.").format(devices=where))
        return
    st.caption(
        _(
            "Recipes that fit on {devices}, the fastest first; speeds are estimates at {mfu} MFU."
        ).format(devices=where, mfu=format_percent(MFU))
    )
    st.markdown(table_markdown(_table(found)))


def _table(found: tuple[Feasible, ...]) -> dict[str, list[str]]:
    return {
        _("recipe"): [way_label(each.way) for each in found],
        _("recomputed"): [checkpointing_label(each.checkpointing) for each in found],
        _("each device holds"): [format_bytes(each.need.amount, unit_system()) for each in found],
        _("speed"): [written(each.speed.amount, each.speed.unit) for each in found],
    }
