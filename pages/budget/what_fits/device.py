"""The chosen device as its maker describes it: every figure with source and date."""

from typing import Final

import streamlit as st

from core.budget.cluster import DeviceSpec
from core.language import N_, _
from core.units import format_bytes, format_flops_per_second
from pages.shared.charts import table_markdown
from pages.shared.settings import unit_system

KINDS: Final = {
    "sold": N_("as sold"),
    "custom": N_("as typed in"),
    "measured": N_("measured"),
}


def show_device(device: DeviceSpec) -> None:
    """Show peaks, memory, bandwidth and links in a popover, with where they come from."""
    with st.popover(_("About this device"), icon=":material/memory:", key="fits_about"):
        st.markdown(table_markdown(rows_of(device)))
        st.caption(
            _("{kind}; {source}; read {date}. Peaks are dense, sparse ones are never used.").format(
                kind=_(KINDS[device.kind]), source=_(device.source), date=device.date
            )
        )


def rows_of(device: DeviceSpec) -> dict[str, list[str]]:
    """Return the figures of a device as a table: name -> written with its unit."""
    rows = {
        _("{dtype} products").format(dtype=dtype): _peak(dtype, peak)
        for dtype, peak in device.peak.items()
    }
    rows |= {
        _("memory on the box"): format_bytes(device.memory_sold, unit_system()),
        _("memory for a process"): format_bytes(device.memory_usable, unit_system()),
        _("memory bandwidth"): _rate(device.bandwidth),
        _("link to another device, one direction"): _rate(device.link),
        _("link to the host, one direction"): _rate(device.host_link),
    }
    return {device.name: list(rows), " ": list(rows.values())}


def _peak(dtype: str, per_second: float) -> str:
    """Return a peak; operations on integers are no FLOPs."""
    written = format_flops_per_second(per_second)
    return written.replace("FLOP/s", "OP/s") if dtype.startswith("int") else written


def _rate(bytes_per_second: float) -> str:
    return f"{bytes_per_second / 1e9:,.4g} GB/s"
