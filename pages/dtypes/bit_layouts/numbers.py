"""What each format reaches, as a picture; and torch.finfo beside it: what agrees, what is wrong."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.facts.format_facts import FormatFacts, format_facts, short_number
from core.dtypes.libraries.finfo import FinfoRow, finfo_rows, format_of
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.machine.kept_library import cached_library_report
from pages.dtypes.bit_layouts.inputs import ASK, Group, choose_group
from pages.shared.charts import table_markdown
from pages.shared.dtypes.asked_report import asked_report
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown, Tab

DENSE_ROW_PX: Final = 19
_MAX_TALL_ROWS: Final = 9
_DENSE_TEXT_PX: Final = 15
ROW_PX: Final = 34
_TICK_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_STEPS_CODE: Final = """
# bits behind the point of a number from 1 to 2
for name, bits in {bits}.items():
    print(name, 2.0**-bits)
"""
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


def _choose_numbers() -> tuple[Group, str]:
    group = choose_group()
    views = {"ranges": N_("Ranges"), "years": N_("By year"), "finfo": "torch.finfo"}
    return group, ASK.selectbox("view", _("View"), views, default="ranges")


def numbers(chosen: tuple[Group, str]) -> Shown:
    """Show the ranges of the formats, or their numbers beside those of torch.finfo."""
    group, view = chosen
    if view == "years":
        return _by_year(group)
    facts = [format_facts(FORMATS[name]) for name in group.names]
    code = _steps_code(facts) or _CODE.format(names=group.names)
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
    steps = {name: format_facts(FORMATS[name]).eps for name in names}
    return " · ".join(
        f"`{name}` {short_number(eps, 8)}" for name, eps in steps.items() if eps is not None
    )


def _show_finfo(group: Group) -> str:
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
        if (fmt := format_of(row.dtype)) and fmt.name in group.names
    ]
    st.markdown(table_markdown(_finfo_table(group, rows)))
    for sentence in dict.fromkeys(row.reason for row in rows if row.reason):
        names = _(", ").join(
            f"`{row.dtype}.{row.quantity}`" for row in rows if row.reason == sentence
        )
        st.markdown(f"**≠** {_(sentence)} · :small[{names}]")
    if report:
        st.caption(_("Asked in a separate process: torch {torch}.").format(torch=report.torch))
    return _finfo_sentence(group, rows)


def _finfo_sentence(group: Group, rows: Sequence[FinfoRow]) -> str:
    shown = _steps(group.told)
    told = [row for row in rows if row.torch is not None]
    if not told:
        return _("eps, counted from the codes: {numbers}").format(numbers=shown)
    agreeing = sum(row.agrees for row in told)
    return _(
        "eps, counted from the codes: {numbers}; torch.finfo agrees in {same} of {all}"
    ).format(numbers=shown, same=agreeing, all=len(told))


def _finfo_table(group: Group, rows: Sequence[FinfoRow]) -> dict[str, list[str]]:
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


def numbers_picture(
    facts: Sequence[FormatFacts], look: Look, *, with_years: bool = False
) -> Picture:
    """Return one bar for the normal numbers of each format and one for its subnormals.

    `with_years` writes before each name when the format was first written down.
    """
    layout, drawing = look.layout(), Drawing()
    for is_subnormal in (True, False):
        _draw_bars(drawing, facts, look, is_subnormal=is_subnormal)
    drawing.scatter(  # unseen: the axis at the right needs it
        x=[None], y=[0], yaxis="y2", showlegend=False, hoverinfo="skip"
    )
    line = {"color": look.color("muted"), "width": 1, "dash": "dot"}
    drawing.shape(type="line", x0=0, x1=0, xref="x", y0=0, y1=1, yref="y domain", line=line)
    size = layout["font"]["size"]
    axes = {
        **_axes(facts, layout, look, with_years=with_years),
        "height": len(facts) * max(DENSE_ROW_PX if are_dense(facts) else ROW_PX, size + 4)
        + 6 * size,
        "barmode": "overlay",
        "bargap": 0.3,
        "margin": {"l": 8, "r": 8, "t": 2 * size, "b": 8},
    }
    return Picture(figure=drawing.figure(layout | axes), alt=_sentence(facts), table=_table(facts))


def _draw_bars(
    drawing: Drawing, facts: Sequence[FormatFacts], look: Look, *, is_subnormal: bool
) -> None:
    spans = [_span(each, is_subnormal=is_subnormal) for each in facts]
    color = look.color("underflow" if is_subnormal else "exponent")
    shape = "/" if is_subnormal else ""
    drawing.bar(
        name=_("subnormal numbers") if is_subnormal else _("normal numbers"),
        orientation="h",
        y=list(range(len(facts))),
        base=[start for start, _end in spans],
        # A format of one single size still shows a mark.
        x=[
            max(end - start, 0.15) if end > start or not is_subnormal else 0 for start, end in spans
        ],
        customdata=[[short_number(each.smallest), short_number(each.max)] for each in facts],
        hovertemplate="%{customdata[0]} … %{customdata[1]}<extra></extra>",
        marker={
            "color": color,
            "line": {"color": color, "width": 1},
            "pattern": {"shape": shape, "fgcolor": color, "bgcolor": look.color("background")},
        },
    )


def _span(facts: FormatFacts, *, is_subnormal: bool) -> tuple[float, float]:
    normal = _log10(facts.max if facts.smallest_normal is None else facts.smallest_normal)
    return (_log10(facts.smallest), normal) if is_subnormal else (normal, _log10(facts.max))


def _log10(value: Fraction) -> float:
    return math.log10(value.numerator) - math.log10(value.denominator)


def _axes(
    facts: Sequence[FormatFacts], layout: dict[str, Any], look: Look, *, with_years: bool
) -> dict[str, Any]:
    lowest, highest = _log10(min(f.smallest for f in facts)), _log10(max(f.max for f in facts))
    step = next((each for each in _TICK_STEPS if (highest - lowest) / each <= 10), 2000)
    ticks = range(math.ceil(lowest / step) * step, math.floor(highest / step) * step + 1, step)
    across = {
        "tickvals": list(ticks),
        "ticktext": [f"10<sup>{tick}</sup>" if tick else "1" for tick in ticks],
        "zeroline": False,
    }
    words = _(" max {max} · {digits} digits")
    ends = [
        words.format(max=short_number(each.max, 5), digits=f"{each.decimal_digits:.1f}")
        for each in facts
    ]
    names = [f"{_year(each)} {each.name}" if with_years else each.name for each in facts]
    rows = row_axes(names, ends, look, layout["yaxis"])
    return {"xaxis": layout["xaxis"] | across, **rows}


def _year(facts: FormatFacts) -> str:
    fmt = FORMATS.get(facts.name)
    return str(fmt.year) if fmt and fmt.year else "–"


def _sentence(facts: Sequence[FormatFacts]) -> str:
    words = _("{name} from {smallest} to {largest}, {digits} decimal digits")
    parts = [
        words.format(
            name=each.name,
            smallest=short_number(each.smallest, 4),
            largest=short_number(each.max, 6),
            digits=f"{each.decimal_digits:.1f}",
        )
        for each in facts
    ]
    return _("The positive numbers of {count} formats: {parts}.").format(
        count=len(facts), parts=_("; ").join(parts)
    )


def _table(facts: Sequence[FormatFacts]) -> Table:
    return {
        _("format"): [each.name for each in facts],
        _("bits"): [str(each.bits) for each in facts],
        _("year"): [_year(each) for each in facts],
        _("max"): [short_number(each.max, 8) for each in facts],
        _("min normal"): [short_number(each.smallest_normal, 6) for each in facts],
        _("smallest"): [short_number(each.smallest, 6) for each in facts],
        _("eps"): [short_number(each.eps, 6) for each in facts],
        _("decimal digits"): [f"{each.decimal_digits:.2f}" for each in facts],
        _("finite codes"): [f"{each.counts.finite:,}" for each in facts],
        _("NaN codes"): [f"{each.counts.nans:,}" for each in facts],
        _("infinities"): [str(each.counts.infinities) for each in facts],
        _("below 1"): [f"{each.share_below_one * 100:.1f} %" for each in facts],
    }


def _steps_code(facts: Sequence[FormatFacts]) -> str:
    bits: Mapping[str, int] = {
        each.name: each.eps.denominator.bit_length() - 1 for each in facts if each.eps is not None
    }
    is_power = all(Fraction(1, 1 << bits[each.name]) == each.eps for each in facts if each.eps)
    return _STEPS_CODE.format(bits=dict(bits)) if bits and is_power else ""


def are_dense(rows: Sequence[object]) -> bool:
    """Return whether rows are so many that they become low, with small words."""
    return len(rows) > _MAX_TALL_ROWS


def row_axes(
    names: Sequence[str], words: Sequence[str], look: Look, right: Mapping[str, Any]
) -> dict[str, Any]:
    """Return both vertical axes; the right one, y2, is drawn only if a trace lies on it."""
    layout = look.layout()
    size = layout["font"]["size"]
    text_size = min(size, _DENSE_TEXT_PX) if are_dense(names) else size
    rows = {
        "range": [len(names) - 0.5, -0.5],
        "tickvals": list(range(len(names))),
        "tickfont": layout["font"] | {"size": text_size},
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }
    return {
        "yaxis": layout["yaxis"] | rows | {"ticktext": [f"{name} " for name in names]},
        "yaxis2": {**right, **rows, "overlaying": "y", "side": "right", "ticktext": list(words)},
    }


TAB = Tab(label=N_("Ranges and finfo"), show=numbers, choose=_choose_numbers)
