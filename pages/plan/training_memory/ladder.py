"""The published ladder of memory techniques as a guided tour, one rung at a time.

Below it stands every published figure that our rules are held against.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from core.budget.comparison.difference import Difference
from core.budget.comparison.published import (
    KINDS,
    ORIGINS,
    PublishedFigure,
    count_origins,
    published,
)
from core.budget.comparison.rederived import Rung, rederive, step_down
from core.budget.comparison.rederived import ladder as published_ladder
from core.budget.training.memory import NOT_COUNTED
from core.figures.budget.training_memory.ladder import LadderRow, error_text, ladder_picture
from core.figures.budget.training_memory.scenarios import signed
from core.language import N_, _
from pages.plan.training_memory.inputs import ASK
from pages.shared.answer import written
from pages.shared.charts import table_markdown
from pages.shared.lessons import in_language
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown

FIRST: Final = "packed"
BAND: Final = N_("inside our band")
SHORT_KINDS: Final = {
    "allocated": N_("allocated"),
    "reserved": N_("reserved"),
    "nvidia-smi": "nvidia-smi",
    "counted": N_("counted"),
    "time": N_("timed"),
}
SHORT_ORIGINS: Final = {
    "printed": N_("independent"),
    "derived": N_("derived"),
    "fitted": N_("fitted"),
}
_SMALL: Final = 1e-3  # of the peak: changes below it are not told

_CODE: Final = """
from core.budget.comparison.rederived import ladder

for rung in ladder():
    ours = rung.ours.amount / 2**30 if rung.ours else float("nan")
    print(f"{rung.published.value / 2**30:6.2f} GiB measured, ours {ours:6.2f} GiB",
          rung.published.title["en"])
"""  # the published figures and their settings are in core


def choose_rung() -> int:
    """Return the place of the rung to look at."""
    slugs = tuple(rung.slug for rung in published_ladder())
    chosen = ASK.select_slider(
        "rung", _("Rung"), slugs, default=FIRST, labels=lambda slug: f"{slugs.index(slug) + 1}"
    )
    place = slugs.index(chosen)
    _step_button(_("One up"), "up", slugs, place - 1)
    _step_button(_("One down"), "down", slugs, place + 1)
    return place


def _step_button(label: str, name: str, slugs: Sequence[str], target: int) -> None:
    exists = 0 <= target < len(slugs)
    st.button(
        label,
        key=ASK.key(f"rung_{name}"),
        icon=f":material/arrow_{name}ward:",
        on_click=ASK.set,
        args=("rung", slugs[target] if exists else ""),
        disabled=not exists or locked(),
    )


def ladder(place: int) -> Shown:
    """Show what each technique spared when it was measured, and what our rules say."""
    rungs = published_ladder()
    rows = [
        LadderRow(
            in_language(rung.published.title),
            rung.published.value,
            None if rung.ours is None else rung.ours.amount,
        )
        for rung in rungs
    ]
    return Shown(
        headline=sentence(rungs, place),
        charts=[Chart(picture=ladder_picture(rows, place, look()), file_name="memory-ladder")],
        numbers=[(_("Ours"), ours)] if (ours := rungs[place].ours) else [],
        beside=partial(_explain, rungs, place),
        widths=(5, 2),
        below=show_published,
        code=_CODE,
    )


def sentence(rungs: Sequence[Rung], place: int) -> str:
    """Return the rung with its published figure and ours."""
    rung = rungs[place]
    parts = {
        "place": place + 1,
        "count": len(rungs),
        "title": in_language(rung.published.title),
        "published": look().format_bytes(rung.published.value),
    }
    if rung.ours is None:
        return _("Rung {place} of {count}, {title}: measured {published}").format(**parts)
    ours = look().format_bytes(rung.ours.amount)
    error = error_text(rung.published.error(rung.ours.amount))
    return _(
        "Rung {place} of {count}, {title}: measured {published}, ours {ours} ({error})"
    ).format(**parts, ours=ours, error=error)


def _explain(rungs: tuple[Rung, ...], place: int) -> None:
    """Say why this rung spares what it spares, and where the figures come from."""
    rung, change = rungs[place], step_down(rungs, place)
    with st.container():  # one below the other on a projector too
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
        f"{_(step.path[-1])} {signed(step.change, look())}"
        for step in sorted(change.changed, key=lambda step: -abs(step.change))
        if abs(step.change) > _SMALL * change.before.amount
    ]
    return _("By our rules, from the rung above: {parts}.").format(parts=_(", ").join(parts))


def show_published() -> None:
    """Show the table of all figures, made only when it is opened."""
    counted = count_origins()
    title = _("Published figures: {printed} of {count} are independent of our rules").format(
        printed=counted["printed"], count=sum(counted.values())
    )
    place = st.expander(
        title, key=ASK.key("published"), icon=":material/fact_check:", on_change="rerun"
    )
    if place.open:
        with place:
            _show_table()


def _show_table() -> None:
    silent = sum(not figure.quantity for figure in published().values())
    st.caption(
        _("The suite fails if one of ours leaves its tolerance; {count} have none of ours.").format(
            count=silent
        )
    )
    told = zip(count_origins().items(), ORIGINS.values(), strict=True)
    parts = [f"{count} {_(SHORT_ORIGINS[origin])}: {_(words)}" for (origin, count), words in told]
    st.caption(_("; ").join(parts))
    rows = [_published_row(figure) for figure in published().values()]
    titles = (_("what"), _("published"), _("ours"), _("error"), _("origin"), _("kind"), _("source"))
    st.markdown(table_markdown(dict(zip(titles, map(list, zip(*rows, strict=True)), strict=True))))
    kinds = [f"{_(SHORT_KINDS[kind])}: {_(words)}" for kind, words in KINDS.items()]
    st.caption(_("; ").join(kinds))


def _published_row(figure: PublishedFigure) -> tuple[str, ...]:
    ours = rederive(figure)
    numbers = ("–", "–")
    if ours is not None:
        error = error_text(figure.error(ours.amount))
        near = f"{error}, {_(BAND)}" if figure.tolerance is None else error
        numbers = (written(ours.amount, figure.unit), near)
    value = written(figure.value, figure.unit)
    source = f"{figure.source}: “{figure.printed}”"
    if figure.not_counted:
        what = _(", ").join(_(NOT_COUNTED[flag]) for flag in figure.not_counted)
        source += _("; not counted: {what}").format(what=what)
    words = (_(SHORT_ORIGINS[figure.origin]), _(SHORT_KINDS[figure.kind]))
    return (in_language(figure.title), value, *numbers, *words, source)
