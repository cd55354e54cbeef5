"""Why `view` refuses: which neighbouring dimensions cannot be merged, and the ways around it."""

from functools import partial

import streamlit as st

from core.language import _
from core.tensors.layout import Layout
from core.tensors.shape_text import lengths_in
from core.tensors.trace import Trace, TracedTensor
from core.tensors.views import ViewVerdict, explain_view, neighbours
from core.units import format_bytes
from pages.shared.charts import show_table
from pages.shared.settings import unit_system
from pages.shared.tabbed_page import Shown
from pages.shared.tensors.program import show_refusal
from pages.tensors.strides_and_views.inputs import ASK, Case
from pages.tensors.strides_and_views.snippet import view_snippet


def why(case: Case) -> Shown:
    """Ask for a shape and show whether the last tensor can be viewed in it."""
    tensor = _asked(case.trace)
    target = _target(case, tensor)
    layout = tensor.layout
    verdict = explain_view(layout.shape, layout.stride, target)
    _show_pairs(layout, verdict)
    _show_target(verdict, target)
    return Shown(
        headline=verdict_sentence(tensor, target),
        notes=_notes(verdict, layout),
        below=partial(show_refusal, ASK, case.trace.error) if case.trace.error else None,
        code=view_snippet(tensor, target),
    )


def _target(case: Case, tensor: TracedTensor) -> tuple[int, ...]:
    """Return the shape that is asked for: the refused one, else all elements in a row."""
    text = ASK.text(
        "target",
        _("Wanted shape"),
        max_chars=60,
        help=_("Lengths with commas, such as 2, 12; one of them may be -1. Empty: what the program "
               "was refused, else all elements in a row."),
    )  # fmt: skip
    if text.strip():
        return lengths_in(text)
    return case.trace.refused_shape or (tensor.layout.numel,)


def _asked(ran: Trace) -> TracedTensor:
    """Return the tensor whose view was refused, else the last one."""
    return next((each for each in ran.tensors if each.key == ran.refused_tensor), ran.tensors[-1])


def verdict_sentence(tensor: TracedTensor, target: tuple[int, ...]) -> str:
    """Return whether a tensor can be viewed in a shape, and what forbids it if it cannot."""
    layout = tensor.layout
    verdict = explain_view(layout.shape, layout.stride, target)
    values = {"shape": layout.shape, "target": target}
    if verdict.ok:
        message = _("{shape} can be viewed as {target}: strides {stride}, nothing is copied")
        return message.format(**values, stride=verdict.stride)
    if verdict.kind != "break":
        message = _("{target} does not hold the {count} elements of {shape}")
        return message.format(**values, count=layout.numel)
    first, *others = verdict.failures
    message = _(
        "{shape} cannot be viewed as {target}: dimensions {left} and {right} cannot be merged, "
        "stride {have} instead of {need}"
    )
    words = {"left": first.dim, "right": first.right, "have": first.have, "need": first.need}
    more = _(" (and {count} more)").format(count=len(others)) if others else ""
    return message.format(**values, **words) + more


def _show_pairs(layout: Layout, verdict: ViewVerdict) -> None:
    """List every pair of neighbours: what the left stride is, and what a merge would need."""
    broken = {(pair.dim, pair.right) for pair in verdict.failures}
    pairs = neighbours(layout.shape, layout.stride)
    if not pairs:
        st.caption(_("There are no two dimensions longer than 1: nothing has to be merged."))
        return
    show_table(
        {
            _("Dimensions"): [f"{pair.dim}, {pair.right}" for pair in pairs],
            _("Stride of the left one"): [pair.have for pair in pairs],
            _("Length × stride of the right one"): [
                f"{pair.length} × {pair.step} = {pair.need}" for pair in pairs
            ],
            _("Can be merged"): [
                "✓ " + _("yes") if pair.can_be_merged else "✗ " + _("no") for pair in pairs
            ],
            _("The wanted shape"): [
                _("needs that") if (pair.dim, pair.right) in broken else _("does not need that")
                for pair in pairs
            ],
        }
    )


def _show_target(verdict: ViewVerdict, target: tuple[int, ...]) -> None:
    if verdict.kind != "break":
        return
    for pair in verdict.failures:
        st.markdown(
            _(
                "Dimension {target_dim} of {target} would span dimensions {left} and {right}: the "
                "stride of {left} would have to be **{need}**, and it is **{have}**."
            ).format(
                target_dim=pair.target_dim,
                target=target,
                left=pair.dim,
                right=pair.right,
                need=pair.need,
                have=pair.have,
            )
        )


def _notes(verdict: ViewVerdict, layout: Layout) -> list[str]:
    def size(num_elements: int) -> str:
        return format_bytes(num_elements * layout.itemsize, unit_system())

    return [
        _("`{code}` works, and copies {size}.").format(
            code=fix.code, size=size(fix.num_elements_copied)
        )
        for fix in verdict.fixes
    ]
