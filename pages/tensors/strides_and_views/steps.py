"""Every step in one table, and what ran underneath: hidden copies show there."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.language import _, ngettext
from core.tensors.layout import Layout
from core.tensors.trace import Step
from pages.shared.charts import show_table, table_csv
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown
from pages.shared.tensors.program import show_refusal
from pages.shared.tensors.table_cells import aten_columns, kind_text, size_text
from pages.tensors.strides_and_views.inputs import ASK, Case
from pages.tensors.strides_and_views.snippet import snippet


def steps(case: Case) -> Shown:
    """List the steps: layout, storage, view or copy, bytes; below them the aten operations."""
    ran = case.trace
    table: dict[str, Sequence[Any]] = {
        _("Expression"): [step.text.replace("\n", " ") for step in ran.steps],
        _("Kind"): [kind_text(step.kind) for step in ran.steps],
        _("Shape"): [str(step.outputs[0].layout.shape) for step in ran.steps],
        _("Stride"): [str(step.outputs[0].layout.stride) for step in ran.steps],
        _("Copied"): [_size(step.bytes_copied) for step in ran.steps],
    }
    if not presenting():  # a projector has no room for more
        table |= _more_columns(ran.steps)
    if ran.steps:
        show_table(table)
        st.download_button(
            "CSV", table_csv(table), file_name="steps.csv", mime="text/csv", key=ASK.key("csv")
        )
    if ran.error:
        show_refusal(ASK, ran.error)
    _show_underneath(ran.steps)
    return Shown(headline=_headline(ran.steps), code=snippet(case))


def _more_columns(steps: Sequence[Step]) -> dict[str, Sequence[Any]]:
    layouts = [step.outputs[0].layout for step in steps]
    return {
        _("Offset"): [layout.offset for layout in layouts],
        _("Storage"): [step.outputs[0].storage for step in steps],
        _("Contiguous"): [_contiguous(layout) for layout in layouts],
        _("Predicted by the rule"): [_agreement(step) for step in steps],
    }


def _contiguous(layout: Layout) -> str:
    """Return whether it is contiguous, and in torch's format for images or volumes too."""
    name = "channels_last_3d" if layout.ndim == 5 else "channels_last"
    if not layout.is_channels_last:
        return _("yes") if layout.is_contiguous else _("no")
    return _("yes, and {format}").format(format=name) if layout.is_contiguous else name


def _headline(steps: Sequence[Step]) -> str:
    """Return how much was copied, hidden copies too."""
    copied, computed, hidden = (
        sum(getattr(step, name) for step in steps)
        for name in ("bytes_copied", "bytes_computed", "bytes_hidden")
    )
    if not copied and not hidden:
        said = ngettext(
            "{count} step, and nothing is copied",
            "{count} steps, and nothing is copied",
            len(steps),
        )
    elif hidden:
        said = ngettext(
            "{count} step copies {size}, and {hidden} more in between that no result keeps",
            "{count} steps copy {size}, and {hidden} more in between that no result keeps",
            len(steps),
        )
    else:
        said = ngettext("{count} step copies {size}", "{count} steps copy {size}", len(steps))
    if computed:
        said += _("; {computed} hold computed results")
    words = {
        "size": size_text(copied),
        "hidden": size_text(hidden),
        "computed": size_text(computed),
    }
    return said.format(count=len(steps), **words)


def _show_underneath(steps: tuple[Step, ...]) -> None:
    rows = [(step, row) for step in steps for row in step.aten]
    if not rows:
        return
    st.markdown(_("**Underneath**: what autograd and compilers see. A `clone` is a copy."))
    calls = {_("Expression"): [step.call for step, _row in rows]}
    show_table(calls | aten_columns([row for _step, row in rows]))


def _agreement(step: Step) -> str:
    if step.predicted is None:
        return _("no rule")
    return "✓" if step.is_as_predicted else "✗"


def _size(num_bytes: int) -> str:
    return size_text(num_bytes) if num_bytes else "0"
