"""Every step in one table, and what ran underneath: hidden copies show there."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.language import _
from core.tensors.trace import Step
from pages.shared.charts import show_table, table_csv
from pages.shared.tabbed_page import Shown
from pages.shared.tensors.program import show_refusal
from pages.shared.tensors.table_cells import aten_columns, kind_text, size_text
from pages.tensors.strides_and_views.inputs import ASK, Case
from pages.tensors.strides_and_views.snippet import snippet


def steps(case: Case) -> Shown:
    """List the steps: layout, storage, view or copy, bytes; below them the aten operations."""
    ran = case.trace
    table: dict[str, Sequence[Any]] = {
        _("Step"): [step.text.replace("\n", " ") for step in ran.steps],
        _("Kind"): [kind_text(step.kind) for step in ran.steps],
        _("Shape"): [str(step.outputs[0].layout.shape) for step in ran.steps],
        _("Stride"): [str(step.outputs[0].layout.stride) for step in ran.steps],
        _("Offset"): [step.outputs[0].layout.offset for step in ran.steps],
        _("Storage"): [step.outputs[0].storage for step in ran.steps],
        _("Contiguous"): [
            _("yes") if step.outputs[0].layout.is_contiguous else _("no") for step in ran.steps
        ],
        _("Copied"): [_size(step.bytes_copied) for step in ran.steps],
        _("Predicted by the rule"): [_agreement(step) for step in ran.steps],
    }
    if ran.steps:
        show_table(table)
        st.download_button(
            "CSV", table_csv(table), file_name="steps.csv", mime="text/csv", key=ASK.key("csv")
        )
    if ran.error:
        show_refusal(ASK, ran.error)
    _show_underneath(ran.steps)
    copied = sum(step.bytes_copied for step in ran.steps)
    hidden = sum(max(step.bytes_made - step.bytes_copied, 0) for step in ran.steps)
    said = _("{count} steps copy {size}, and {hidden} more in between that no result keeps")
    if not hidden:
        said = _("{count} steps copy {size}")
    headline = said.format(count=len(ran.steps), size=_size(copied), hidden=_size(hidden))
    return Shown(headline=headline, code=snippet(case))


def _show_underneath(steps: tuple[Step, ...]) -> None:
    rows = [(step, row) for step in steps for row in step.aten]
    if not rows:
        return
    st.markdown(_("**Underneath**: what autograd and compilers see. A `clone` is a copy."))
    calls = {_("Step"): [step.call for step, _row in rows]}
    show_table(calls | aten_columns([row for _step, row in rows]))


def _agreement(step: Step) -> str:
    if step.predicted is None:
        return _("no rule")
    return "✓" if step.is_as_predicted else "✗"


def _size(num_bytes: int) -> str:
    return size_text(num_bytes) if num_bytes else "0"
