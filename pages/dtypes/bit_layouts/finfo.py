"""torch.finfo beside the table of this page: what agrees, what is wrong, what is missing."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.facts.format_facts import format_facts, short_number
from core.dtypes.libraries.differences import FinfoRow, finfo_rows, format_of
from core.language import _
from core.machine.kept_library import cached_library_report
from pages.dtypes.bit_layouts.inputs import GROUPS, HIGHLIGHTS
from pages.shared.charts import table_markdown
from pages.shared.dtypes.asked_report import asked_report
from pages.shared.header import headline
from pages.shared.settings import locked

QUANTITIES: Final = ("max", "smallest_normal", "smallest_subnormal", "eps")


def show_finfo(group: str) -> None:
    """Show our numbers, and torch's where this machine's torch has been asked."""
    say = st.container()
    report = cached_library_report()
    if (
        report is None
        and st.button(
            _("Ask torch.finfo of this machine"),
            key="bits_ask_finfo",
            icon=":material/play_arrow:",
            disabled=locked(),
        )
        and asked_report()
    ):
        st.rerun()
    rows = finfo_of(finfo_rows(report.infos) if report else (), group)
    with say:
        headline(finfo_sentence(group, rows))
    st.markdown(table_markdown(finfo_table(group, rows)))
    for sentence in dict.fromkeys(row.reason for row in rows if row.reason):
        names = ", ".join(f"`{row.dtype}.{row.quantity}`" for row in rows if row.reason == sentence)
        st.markdown(f"**≠** {_(sentence)}: :small[{names}]")
    if report:
        st.caption(_("Asked in a process of its own: torch {torch}.").format(torch=report.torch))


def finfo_of(rows: Sequence[FinfoRow], group: str) -> list[FinfoRow]:
    """Return the rows of a group's formats, of the quantities that the table has."""
    return [
        row
        for row in rows
        if row.quantity in QUANTITIES
        and (fmt := format_of(row.dtype)) is not None
        and fmt.name in GROUPS[group]
    ]


def finfo_sentence(group: str, rows: Sequence[FinfoRow]) -> str:
    """Return the headline: the steps above 1, and how often torch agrees with the table."""
    shown = " · ".join(
        f"`{name}` {short_number(eps, 8)}"
        for name in HIGHLIGHTS[group]
        if (eps := format_facts(FORMATS[name]).eps) is not None
    )
    told = [row for row in rows if row.torch is not None]
    if not told:
        return _("eps, counted from the codes: {numbers}").format(numbers=shown)
    agreeing = sum(row.agrees for row in told)
    return _(
        "eps, counted from the codes: {numbers}; torch.finfo agrees in {same} of {all}"
    ).format(numbers=shown, same=agreeing, all=len(told))


def finfo_table(group: str, rows: Sequence[FinfoRow]) -> dict[str, list[str]]:
    """Return one line a format; a number of torch that differs stands beside ours, marked ≠."""
    told = {(fmt.name, row.quantity): row for row in rows if (fmt := format_of(row.dtype))}
    table = {_("format"): [f"`{name}`" for name in GROUPS[group]]}
    for quantity in QUANTITIES:
        table[quantity] = [
            _cell(ours, told.get((name, quantity)))
            for name in GROUPS[group]
            for ours in [_ours(name, quantity)]
        ]
    return table


def _ours(name: str, quantity: str) -> str:
    facts = format_facts(FORMATS[name])
    value = {
        "max": facts.max,
        "smallest_normal": facts.smallest_normal,
        "smallest_subnormal": facts.smallest,
        "eps": facts.eps,
    }[quantity]
    return short_number(value, 8)


def _cell(ours: str, row: FinfoRow | None) -> str:
    if row is None:
        return ours
    if row.torch is None:
        return _("{ours} (torch: none)").format(ours=ours)
    return (
        f"{ours} ✓"
        if row.agrees
        else _("{ours} **≠ torch {value}**").format(ours=ours, value=f"{row.torch:.6g}")
    )
