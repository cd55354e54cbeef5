"""Every published figure that our rules are held against, with what they give."""

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from core.budget.comparison.published import KINDS, PublishedFigure, published
from core.budget.comparison.rederived import rederive
from core.figures.budget.training_memory.ladder import error_text
from core.language import N_, _, ngettext
from pages.budget.training_memory.pins import PAGE
from pages.shared.charts import table_markdown
from pages.shared.lessons import in_language
from pages.shared.numbers import written

BAND: Final = N_("inside our band")
SHORT_KINDS: Final = {
    "allocated": N_("allocated"),
    "reserved": N_("reserved"),
    "nvidia-smi": "nvidia-smi",
    "counted": N_("counted"),
    "time": N_("timed"),
}


def show_published() -> None:
    """Show the table of all figures, made only when it is opened."""
    figures = tuple(published().values())
    title = ngettext(
        "{count} published figure that our rules are held against",
        "{count} published figures that our rules are held against",
        len(figures),
    )
    place = st.expander(
        title.format(count=len(figures)),
        key=f"{PAGE}_published",
        icon=":material/fact_check:",
        on_change="rerun",
    )
    if place.open:
        with place:
            st.caption(_("The suite fails if one of ours leaves its tolerance."))
            st.markdown(table_markdown(published_table(figures)))
            kinds = [f"{_(SHORT_KINDS[kind])}: {_(words)}" for kind, words in KINDS.items()]
            st.caption(_("; ").join(kinds))


def published_table(figures: Sequence[PublishedFigure]) -> Mapping[str, Sequence[str]]:
    """Return one row a figure: what it is, both numbers, how far apart, what kind, and where."""
    rows = [_row(figure) for figure in figures]
    titles = (_("what"), _("published"), _("ours"), _("error"), _("kind"), _("source"))
    return dict(zip(titles, map(list, zip(*rows, strict=True)), strict=True))


def _row(figure: PublishedFigure) -> tuple[str, ...]:
    ours = rederive(figure)
    numbers = ("–", "–")
    if ours is not None:
        error = error_text(figure.error(ours.amount))
        near = f"{error}, {_(BAND)}" if figure.tolerance is None else error
        numbers = (written(ours.amount, figure.unit), near)
    value = written(figure.value, figure.unit)
    source = f"{figure.source}: “{figure.printed}”"
    return (in_language(figure.title), value, *numbers, _(SHORT_KINDS[figure.kind]), source)
