"""Two memory snapshots, such as before and after a change: what differs, and what made it."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.budget.diagnosis.sentences import compared_moments, compared_sentence
from core.budget.diagnosis.snapshot.answer import CATEGORIES, Snapshot
from core.figures.picture import Table
from core.language import _
from pages.plan.diagnose.snapshot_pictures import bars_of_two, lines_of_two
from pages.shared.beside import signed
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown


def show_two(a: Snapshot, b: Snapshot, planned: float, notes: Sequence[str], code: str) -> Shown:
    """Show both on one axis: over time, or without a history of each what is reserved."""
    both, table, sentence = {"A": a, "B": b}, _table(a, b), compared_sentence(a, b, look().unit)
    draw = lines_of_two
    if not (a.points and b.points):
        draw = bars_of_two
        text = _("Not both have a history: what they held when they were taken is compared.")
        notes = notes if a.is_first or b.is_first else [text, *notes]
    alt = _("{sentence}. When they were taken A had reserved {a} and B {b}.").format(
        sentence=sentence, a=look().format_bytes(a.reserved), b=look().format_bytes(b.reserved)
    )
    picture = draw(both, planned, (alt, table), look())
    return Shown(
        headline=sentence, charts=[Chart(picture=picture, file_name="two-memory-snapshots")],
        notes=notes, below=partial(_show_table, table), code=code,
    )  # fmt: skip


def _show_table(table: Table) -> None:
    st.dataframe(table, hide_index=True)


def _table(a: Snapshot, b: Snapshot) -> Table:
    """Return what was in tensors by category, in sum, and reserved."""
    one, two = compared_moments(a, b)
    rows = {_(name): (one.by_category[key], two.by_category[key])
            for key, name in CATEGORIES.items()}  # fmt: skip
    rows = {name: pair for name, pair in rows.items() if any(pair)}
    rows |= {_("in tensors"): (one.active, two.active), _("reserved"): (one.reserved, two.reserved)}
    written = [[look().format_bytes(amount) for amount in pair] for pair in rows.values()]
    return {
        _("in tensors from"): list(rows),
        "A": [a for a, _b in written],
        "B": [b for _a, b in written],
        _("B − A"): [signed(b - a, "bytes") for a, b in rows.values()],
    }
