"""What each format reaches, as a picture; and torch.finfo beside it: what agrees, what is wrong."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.facts.format_facts import FormatFacts, format_facts, short_number
from core.dtypes.libraries.differences import FinfoRow, finfo_rows, format_of
from core.figures.dtypes.bit_layouts.numbers import numbers_picture
from core.language import _
from core.machine.kept_library import cached_library_report
from pages.dtypes.bit_layouts.inputs import ASK, Group, choose_group
from pages.dtypes.bit_layouts.snippets import steps_code
from pages.shared.charts import table_markdown
from pages.shared.dtypes.asked_report import asked_report
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown

QUANTITIES: Final[Mapping[str, Callable[[FormatFacts], Fraction | None]]] = {
    "max": lambda facts: facts.max,
    "smallest_normal": lambda facts: facts.smallest_normal,
    "smallest_subnormal": lambda facts: facts.smallest,
    "eps": lambda facts: facts.eps,
}
"""What torch.finfo calls a number -> the number as it is counted here."""
_CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.facts.format_facts import format_facts, short_number

for name in {names}:
    facts = format_facts(FORMATS[name])
    digits = round(facts.decimal_digits, 1)
    print(name, short_number(facts.eps, 8), short_number(facts.max), digits)
"""
_YEARS: Final = """
from core.dtypes import FORMATS

for name in {names}:
    fmt = FORMATS[name]
    print(fmt.year, name, fmt.bits, "bits:", fmt.source)
"""


def choose_numbers() -> tuple[Group, str]:
    """Ask for formats, and for their ranges, also by year, or torch.finfo."""
    group = choose_group()
    words = {"ranges": _("Ranges"), "years": _("By year"), "finfo": "torch.finfo"}
    view = ASK.selectbox("view", _("View"), list(words), default="ranges", labels=words.__getitem__)
    return group, view


def numbers(chosen: tuple[Group, str]) -> Shown:
    """Show the ranges of the formats, or their numbers beside those of torch.finfo."""
    group, view = chosen
    if view == "years":
        return _by_year(group)
    facts = [format_facts(FORMATS[name]) for name in group.names]
    code = steps_code(facts) or _CODE.format(names=group.names)
    if view == "finfo":
        return Shown(headline=_show_finfo(group), code=code)
    picture = numbers_picture(facts, look())
    # In the order of the picture, which is not that of other headlines.
    told = _steps(name for name in group.names if name in group.told)
    return Shown(
        headline=_("Gap above 1 (eps): {numbers}").format(numbers=told),
        charts=[Chart(picture=picture, file_name="ranges-of-number-formats")],
        code=code,
    )


def _by_year(group: Group) -> Shown:
    """Show the ranges in the order in which the formats were written down."""
    formats = sorted(
        (FORMATS[name] for name in group.names if FORMATS[name].year),
        key=lambda fmt: (fmt.year, -fmt.bits),
    )
    first, last = formats[0], formats[-1]
    said = _("From {wide} bits in {first} to {narrow} bits in {last}").format(
        wide=first.bits, first=first.year, narrow=last.bits, last=last.year
    )
    picture = numbers_picture([format_facts(fmt) for fmt in formats], look(), with_years=True)
    return Shown(
        headline=said,
        charts=[Chart(picture=picture, file_name="number-formats-by-year")],
        notes=[_("; ").join(dict.fromkeys(f"{fmt.year}: {fmt.source}" for fmt in formats))],
        code=_YEARS.format(names=tuple(fmt.name for fmt in formats)),
    )


def _steps(names: Iterable[str]) -> str:
    """Return the gap above 1 of each format that has one."""
    steps = {name: format_facts(FORMATS[name]).eps for name in names}
    return " · ".join(
        f"`{name}` {short_number(eps, 8)}" for name, eps in steps.items() if eps is not None
    )


def _show_finfo(group: Group) -> str:
    """Show our numbers, and torch's where this machine's torch has been asked; return them."""
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
    rows = [
        row
        for row in (finfo_rows(report.infos) if report else ())
        if row.quantity in QUANTITIES
        and (fmt := format_of(row.dtype)) is not None
        and fmt.name in group.names
    ]
    st.markdown(table_markdown(_finfo_table(group, rows)))
    for sentence in dict.fromkeys(row.reason for row in rows if row.reason):
        names = _(", ").join(
            f"`{row.dtype}.{row.quantity}`" for row in rows if row.reason == sentence
        )
        st.markdown(f"**≠** {_(sentence)}: :small[{names}]")
    if report:
        st.caption(_("Asked in a separate process: torch {torch}.").format(torch=report.torch))
    return _finfo_sentence(group, rows)


def _finfo_sentence(group: Group, rows: Sequence[FinfoRow]) -> str:
    """Return the steps above 1, and how often torch agrees with the table."""
    shown = _steps(group.told)
    told = [row for row in rows if row.torch is not None]
    if not told:
        return _("eps, counted from the codes: {numbers}").format(numbers=shown)
    agreeing = sum(row.agrees for row in told)
    return _(
        "eps, counted from the codes: {numbers}; torch.finfo agrees in {same} of {all}"
    ).format(numbers=shown, same=agreeing, all=len(told))


def _finfo_table(group: Group, rows: Sequence[FinfoRow]) -> dict[str, list[str]]:
    """Return one line a format; a number of torch that differs stands beside ours, marked ≠."""
    told = {(fmt.name, row.quantity): row for row in rows if (fmt := format_of(row.dtype))}
    facts = {name: format_facts(FORMATS[name]) for name in group.names}
    table = {_("format"): [f"`{name}`" for name in group.names]}
    for quantity, ours in QUANTITIES.items():
        table[quantity] = [
            _cell(short_number(ours(each), 8), told.get((name, quantity)))
            for name, each in facts.items()
        ]
    return table


def _cell(ours: str, row: FinfoRow | None) -> str:
    if row is None:
        return ours
    if row.torch is None:
        return _("{ours} (torch: none)").format(ours=ours)
    if row.agrees:
        return f"{ours} ✓"
    return _("{ours} **≠ torch {value}**").format(ours=ours, value=f"{row.torch:.6g}")
