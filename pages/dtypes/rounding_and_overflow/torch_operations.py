"""Every dtype of this torch with every operation: what works, and torch's words where not."""

from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.dtypes.libraries.library_records import LibraryReport
from core.figures.dtypes.rounding_and_overflow.operation_matrix import (
    FAMILIES,
    FAMILY_NAMES,
    family_of,
    operation_alt,
    operation_matrix,
    operation_table,
)
from core.language import _
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.settings import presenting, theme_mode

PAGE: Final = "rounding"


def show_operations(report: LibraryReport, row: DeltaGenerator) -> None:
    """Show which operation each dtype of a family can do on a device of this machine.

    Args:
        report: What torch was asked.
        row: Where the inputs go.
    """
    with row:
        family = pickers.segmented(
            PAGE, "family", _("Dtypes"), tuple(FAMILIES), default="floats",
            labels=lambda name: _(FAMILY_NAMES[name]),
        )  # fmt: skip
        kind = pickers.segmented(
            PAGE, "device", _("Device"), ("cpu", "accelerator"), default="cpu", labels=_device_label
        )
    device = report.devices[0] if kind == "cpu" else report.devices[-1]
    if kind == "accelerator" and len(report.devices) == 1:
        st.caption(_("n/a on this device"))
        return
    rows = [
        each for each in report.operations
        if each.device == device and family_of(each.dtype) == family
    ]  # fmt: skip
    show_chart(
        operation_matrix(rows, theme_mode(), present=presenting()),
        key="rounding_operations",
        alt=operation_alt(rows),
        table=operation_table(rows),
        file_name="torch-operations",
    )
    st.caption(
        _(
            "Each was really tried on a small square of ones, on {device}; a result that is not "
            "right does not count. Where torch cannot convert, it got raw bytes."
        ).format(device=device)
    )


def _device_label(kind: str) -> str:
    return {"cpu": "CPU", "accelerator": _("accelerator")}[kind]
