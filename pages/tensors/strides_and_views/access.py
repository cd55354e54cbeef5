"""What it costs to read the elements in order: lines of a cache counted, and sums timed here."""

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.tensors.strides_and_views.access import lines_picture, sums_picture
from core.language import _
from core.tensors.access import (
    AccessCost,
    StridedSum,
    WarpAccess,
    access_cost,
    measure_strided_sums,
    sectors_per_warp,
)
from core.tensors.layout import LINE_BYTES, MAX_ADDRESSES, Layout
from core.units import format_exact, format_percent
from pages.shared.charts import show_chart
from pages.shared.job import run_job
from pages.shared.settings import locked, look, presenting
from pages.shared.tabbed_page import Chart, Shown
from pages.tensors.strides_and_views.inputs import ASK, Case
from pages.tensors.strides_and_views.snippet import access_snippet


@dataclass(slots=True)
class Shared:
    """The sums that every session of this server sees: how far they are, and the last ones."""

    done: float = 0.0
    last: tuple[StridedSum, ...] = ()


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return this server's sums."""
    return Shared()


def access(case: Case) -> Shown:
    """Count what a walk through each tensor fetches; below it, offer to time strided sums."""
    rows = _rows(case)
    if rows is None:
        words = _("Walks through up to {count} elements are counted: choose shorter dimensions")
        return Shown(headline=words.format(count=format_exact(MAX_ADDRESSES)))
    *_others, (name, (cpu, gpu)) = rows.items()
    return Shown(
        headline=_headline(name, cpu),
        charts=[Chart(picture=lines_picture(rows, look()), file_name="access")],
        notes=[_of_a_gpu(name, gpu)],
        below=None if presenting() else _offer_sums,
        code=access_snippet(case),
    )


def _rows(case: Case) -> dict[str, tuple[AccessCost, WarpAccess]] | None:
    """Return each layout of the program once, under the text that first had it."""
    layouts: dict[tuple[Layout, str], str] = {}
    for tensor in case.trace.tensors:
        layouts.setdefault((tensor.layout, tensor.storage), tensor.text)
    if any(layout.numel > MAX_ADDRESSES for layout, _storage in layouts):
        return None
    return {
        text: (access_cost(layout), sectors_per_warp(layout))
        for (layout, _storage), text in layouts.items()
    }


def _headline(name: str, cost: AccessCost) -> str:
    said = _("Reading `{name}` in order: {changes} changes of cache line, {lines} lines in all")
    return said.format(
        name=name,
        changes=format_exact(cost.line_changes),
        lines=format_exact(cost.lines_touched),
    )


def _of_a_gpu(name: str, warps: WarpAccess) -> str:
    return _(
        "A cache line is {line} bytes, and is fetched whole. On a GPU the 32 threads of a warp "
        "read 32 elements at once, in sectors of 32 bytes: {name} needs {sectors} of them, at best "
        "{ideal} ({share} of what is fetched would do). Counted by the usual model of coalesced "
        "access, not measured."
    ).format(
        line=LINE_BYTES,
        name=f"`{name}`",
        sectors=format_exact(sum(warps.sectors)),
        ideal=format_exact(sum(warps.ideal)),
        share=format_percent(warps.efficiency),
    )


def _offer_sums() -> None:
    """Show what was timed here, and the button that times it."""
    kept = shared()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            _("**Timed on this machine**: `buf[::s].sum()` of one buffer, one thread. The elements "
              "become fewer with s, the cache lines do not until s is longer than a line.")
        )  # fmt: skip
        pushed = st.button(
            _("Time it again") if kept.last else _("Time it here"),
            key=ASK.key("time"),
            icon=":material/timer:",
            disabled=locked(),
        )
    if pushed and run_job(
        "strided sums",
        _run,
        doing=_("Timing, in a separate process …"),
        failed=_("The sums were not timed"),
        tell=_tell,
    ):
        st.rerun()
    if kept.last:
        picture = sums_picture(kept.last, look())
        show_chart(picture, key=ASK.key("sums"), file_name="strided-sums")


def _run() -> None:
    """Time the sums in a thread of the pool."""
    kept = shared()

    def note(share: float) -> None:
        kept.done = share

    kept.done, kept.last = 0.0, measure_strided_sums(note)


def _tell(place: DeltaGenerator) -> None:
    place.progress(shared().done)
