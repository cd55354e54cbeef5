"""The published ladder of memory techniques as a guided tour, one rung at a time."""

from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.comparison.difference import Difference
from core.budget.comparison.published import KINDS
from core.budget.comparison.rederived import Rung, ladder, step_down
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.ladder import (
    LadderRow,
    error_text,
    ladder_alt,
    ladder_figure,
    ladder_table,
)
from core.figures.budget.training_memory.waterfall import signed
from core.language import _
from core.units import format_bytes
from pages.budget.training_memory.pins import PAGE
from pages.budget.training_memory.published_table import show_published
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.lessons import in_language
from pages.shared.numbers import explained_number
from pages.shared.settings import locked, presenting, theme_mode, unit_system

FIRST: Final = "packed"
_CHOICE: Final = f"{PAGE}_rung"
PRESENTED: Final = 5  # rungs that a projector shows at once
_SMALL: Final = 1e-3  # of the peak: changes below it are not told


def show_ladder(_case: Scenario) -> None:
    """Show what each technique spared when it was measured, and what our rules say.

    Args:
        _case: The setting of the page now; the ladder has a model and a device of its own.
    """
    rungs = ladder()
    slugs = tuple(rung.slug for rung in rungs)
    place = slugs.index(_choose_rung(slugs))
    headline(_sentence(rungs, place))
    picture, words = _places()
    with picture:
        _show_picture(rungs, place)
    with words:
        _explain(rungs, place)
    show_published()


def _places() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return where picture and words go: side by side, on a projector below each other."""
    if presenting():
        return st.container(), st.container()
    picture, words = st.columns([5, 2])
    return picture, words


def _show_picture(rungs: tuple[Rung, ...], place: int) -> None:
    rows, unit = [_row(rung) for rung in rungs], unit_system()
    first, last = _window(place, len(rungs))
    show_chart(
        ladder_figure(rows[first:last], place - first, unit, theme_mode(), present=presenting()),
        key=f"{PAGE}_ladder",
        alt=ladder_alt(rows[first:last], unit),
        table=ladder_table(rows, unit),
        file_name="memory-ladder",
    )


def _window(place: int, count: int) -> tuple[int, int]:
    """Return the rungs that are drawn: all of them, on a projector those around the chosen."""
    shown = min(count, PRESENTED) if presenting() else count
    first = min(max(0, place - shown // 2), count - shown)
    return first, first + shown


def _choose_rung(slugs: tuple[str, ...]) -> str:
    with st.container(key=f"{PAGE}_ladder_steps", horizontal=True, vertical_alignment="bottom"):
        with st.popover(_("Rung")) if presenting() else st.container(width="stretch"):
            chosen = pickers.select_slider(
                PAGE,
                "rung",
                _("Rung"),
                slugs,
                default=FIRST,
                labels=lambda slug: f"{slugs.index(slug) + 1}",
            )
        place = slugs.index(chosen)
        _step_button(_("One up"), "up", slugs, place - 1)
        _step_button(_("One down"), "down", slugs, place + 1)
    return chosen


def _step_button(label: str, name: str, slugs: tuple[str, ...], target: int) -> None:
    exists = 0 <= target < len(slugs)
    st.button(
        label,
        key=f"{PAGE}_rung_{name}",
        icon=f":material/arrow_{name}ward:",
        on_click=st.session_state.__setitem__,
        args=(_CHOICE, slugs[target] if exists else ""),
        disabled=not exists or locked(),
    )


def _sentence(rungs: tuple[Rung, ...], place: int) -> str:
    rung, unit = rungs[place], unit_system()
    parts = {
        "place": place + 1,
        "count": len(rungs),
        "title": in_language(rung.published.title),
        "published": format_bytes(rung.published.value, unit),
    }
    if rung.ours is None:
        return _("Rung {place} of {count}, {title}: measured {published}").format(**parts)
    ours = format_bytes(rung.ours.amount, unit)
    error = error_text(rung.published.error(rung.ours.amount))
    return _(
        "Rung {place} of {count}, {title}: measured {published}, ours {ours} ({error})"
    ).format(**parts, ours=ours, error=error)


def _row(rung: Rung) -> LadderRow:
    ours = None if rung.ours is None else rung.ours.amount
    return LadderRow(in_language(rung.published.title), rung.published.value, ours)


def _explain(rungs: tuple[Rung, ...], place: int) -> None:
    """Say why this rung spares what it spares, and where the figures come from."""
    rung, change = rungs[place], step_down(rungs, place)
    if rung.ours is not None:
        explained_number(_("Ours"), rung.ours)
    if rung.published.note:
        st.markdown(in_language(rung.published.note))
    if change is not None and change.changed:
        st.markdown(_changes(change))
    st.caption(
        _(
            "Llama-3.2 3B on one A100, 2 × 4096 tokens, all in bf16. Published: {kind}. "
            "Source: {source}."
        ).format(kind=_(KINDS[rung.published.kind]), source=rung.published.source)
    )


def _changes(change: Difference) -> str:
    parts = [
        f"{_(step.path[-1])} {signed(step.change, unit_system())}"
        for step in sorted(change.changed, key=lambda step: -abs(step.change))
        if abs(step.change) > _SMALL * change.before.amount
    ]
    return _("By our rules, from the rung above: {parts}.").format(parts=_(", ").join(parts))
