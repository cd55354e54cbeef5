"""The square picked out: what fills the memory line by line, where to go on, and the device."""

from typing import Final

import streamlit as st

from core.budget.cluster import DeviceSpec
from core.budget.fits.matrix import lines, row
from core.language import N_, _
from core.units import format_flops_per_second
from pages.plan.what_fits.inputs import Case
from pages.shared import page_links
from pages.shared.answer import explained_number
from pages.shared.charts import table_markdown
from pages.shared.plan.plan import plan_query
from pages.shared.settings import look

CODE: Final = """
from math import ceil

needed = {{  # bytes, in the order in which they fill the memory
{needed}
}}
usable = {usable:_}

filled = 0
for name, num_bytes in needed.items():
    filled += num_bytes
    verdict = "fits" if filled <= usable else "does not fit"
    print(f"{{name}}: {{num_bytes / 2**30:.2f}} GiB, {{verdict}}")
print(f"{{filled / 2**30:.2f}} of {{usable / 2**30:.2f}} GiB")
"""
KINDS: Final = {"sold": N_("as sold"), "custom": N_("as typed in"), "measured": N_("measured")}


def show_detail(case: Case) -> None:
    """Show need and capacity with what stands behind them, and the items in order."""
    (cell,) = row(case.plan.spec, case.job, [case.chosen.device.device])
    if cell.need is None:
        st.caption(cell.sentence)
        return
    with st.container(border=True, key="fits_detail"):
        sizes, parts = st.columns(2)
        with sizes, st.container(horizontal=True):
            explained_number(_("Needed"), cell.need)
            explained_number(_("Usable"), case.chosen.device.device.usable)
        with parts:
            found, mark = [], "≈" if cell.is_guess else "✓"
            for part in lines(cell.need):
                if part.name == cell.reason:
                    mark = "≈" if cell.is_guess else "✗"
                size = look().format_bytes(part.amount)
                found.append(f"- {mark} {_(part.name)} {size}")
            st.markdown("\n".join(found))
        open_page(case)
        show_device(case.chosen.device.device)


def write_code(case: Case) -> str:
    """Return Python that adds up what the job needs until the memory is full."""
    (cell,) = row(case.plan.spec, case.job, [case.chosen.device.device])
    if cell.need is None:
        return ""
    lines_of_code = [f'    "{part.name}": {part.python},' for part in lines(cell.need)]
    return CODE.format(needed="\n".join(lines_of_code), usable=round(cell.capacity))


def open_page(case: Case) -> None:
    """Show a link that opens the page of this job with this plan."""
    work = case.plan.work
    key = {"serve": "plan/serving", "train": "plan/training_memory"}[work]
    label = {"serve": _("Open in Serving →"), "train": _("Open in Training memory →")}[work]
    page_links.show_link(key, label, plan_query())


def show_device(device: DeviceSpec) -> None:
    """Show the device as its maker describes it: every figure with source and date."""
    with st.expander(_("About this device"), icon=":material/memory:", key="fits_about"):
        st.markdown(table_markdown(rows_of(device)))
        st.caption(
            _("{kind}; {source}; read {date}. Peaks are dense, sparse ones are never used.").format(
                kind=_(KINDS[device.kind]), source=_(device.source), date=device.date
            )
        )


def rows_of(device: DeviceSpec) -> dict[str, list[str]]:
    """Return the figures of a device as a table: name -> written with its unit."""
    rows = {
        _("dense {dtype} peak").format(dtype=dtype): _peak(dtype, peak)
        for dtype, peak in device.peak.items()
    }
    rows |= {
        _("nominal memory"): look().format_bytes(device.memory_sold),
        _("usable memory"): look().format_bytes(device.memory_usable),
        _("memory bandwidth"): _rate(device.bandwidth),
        _("link to the other devices, one direction"): _rate(device.link),
        _("of it to a single one"): _rate(device.link_among(2)),
        _("link to the host, one direction"): _rate(device.host_link),
    }
    return {device.name: list(rows), " ": list(rows.values())}


def _peak(dtype: str, per_second: float) -> str:
    """Return a peak; operations on integers are no FLOPs."""
    written = format_flops_per_second(per_second)
    return written.replace("FLOP/s", "OP/s") if dtype.startswith("int") else written


def _rate(bytes_per_second: float) -> str:
    return f"{bytes_per_second / 1e9:,.4g} GB/s"
