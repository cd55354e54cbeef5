"""The same number, or the same picture, in many formats side by side."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import streamlit as st

from core.dtypes import FORMATS, Format
from core.dtypes.cast.explain_cast import CastTrace, explain_cast
from core.dtypes.exact import parse_value, to_float
from core.dtypes.facts.explain import FIELD_ORDER, Field, bit_fields, columns_of
from core.dtypes.facts.format_facts import short_number, written_value
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.language.listing import followed_by
from core.units import in_percent
from pages.components.bit_grid.bit_grid import hex_code
from pages.dtypes.bit_layouts.grid import ask_below_one
from pages.dtypes.bit_layouts.inputs import ASK, FIELD_NAMES, Group, choose_group
from pages.dtypes.bit_layouts.numbers import DENSE_ROW_PX, are_dense, row_axes
from pages.dtypes.bit_layouts.pictures import choose_pictures, pictures
from pages.shared.dtypes.number_slider import slider_through_decades
from pages.shared.dtypes.plain_code import STEP_AT, beyond, exact_text, is_plain, widths
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

ROW_PX: Final = 40
FAINT: Final = 0.18  # how much of the field's colour a 0 keeps
_TWO_PLACES: Final = re.compile(r"(e[+-])0")


@dataclass(frozen=True, kw_only=True, slots=True)
class BitRow:
    """One format with what the number becomes in it."""

    fmt: Format
    trace: CastTrace

    @property
    def bits(self) -> str:
        return f"{self.trace.code:0{self.fmt.bits}b}"

    @property
    def columns(self) -> range:
        """Where the bits stand: -1 is the last exponent bit, 0 the first mantissa bit."""
        return columns_of(self.fmt)

    @property
    def stored(self) -> str:
        return written_value(self.fmt, self.trace.code, 12)


DEFAULT_VALUE: Final = "3.141592653589793"
_CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast

for name in {names}:
    trace = explain_cast(FORMATS[name], {value!r})
    print(name, f"{{trace.code:0{{FORMATS[name].bits}}b}}", trace.result, trace.outcome)
"""
_PLAIN: Final = """

x = {value}
for name, mantissa_bits, lowest_exponent, largest, beyond in (
{rows}
):
    step = step_at(x, mantissa_bits, lowest_exponent)
    stored = round(x / step) * step  # to nearest, ties to even
    print(name, float(stored) if abs(stored) <= largest else beyond)
"""


def _choose_side() -> tuple[str, Group] | tuple[str, int]:
    words = {"number": N_("one number"), "picture": N_("a picture")}
    stored = ASK.selectbox("stored", _("What is stored"), words, default="number")
    if stored == "picture":
        return choose_pictures()
    place = st.container()
    said = ASK.text(
        "value",
        _("Exact number"),
        default=DEFAULT_VALUE,
        max_chars=60,
        help=_("65519.99, 1e-8, 1/3, 2^-25, 0x1.8p3, inf or nan; read without rounding."),
    )
    with place:
        slider_through_decades(ASK, "value", said)
    return said, choose_group()


def side(chosen: tuple[str, Group] | tuple[str, int]) -> Shown:
    """Show the bits of the number in each format, or the picture as each gives it back."""
    text, group = chosen
    if isinstance(group, int):
        return pictures((text, group))
    try:
        parse_value(text)
    except ValueError as error:
        st.error(str(error))
        return Shown(headline=_("Not a number yet"))
    said = text.strip()
    rows = [
        BitRow(fmt=FORMATS[name], trace=explain_cast(FORMATS[name], said)) for name in group.names
    ]
    if sentence := half_sentence(rows):
        st.caption(sentence)
    stored = {row.fmt.name: row.stored for row in rows}
    told = " · ".join(f"`{name}` {stored[name]}" for name in group.told)
    picture = side_picture(said, rows, look())
    return Shown(
        headline=_("{value} is stored as {numbers}").format(value=said, numbers=told),
        charts=[Chart(picture=picture, file_name="one-number-in-many-formats")],
        code=_snippet(said, group),
    )


def _snippet(said: str, group: Group) -> str:
    value, plain = parse_value(said), [FORMATS[name] for name in group.names]
    plain = [fmt for fmt in plain if is_plain(fmt)]
    if not value or not isinstance(value, Fraction) or set(group.told) - {f.name for f in plain}:
        return _CODE.format(names=group.names, value=said)
    rows = [
        f'    ("{fmt.name}", {mantissa}, {lowest}, {fmt.max}, {beyond(fmt, negative=value < 0)}),'
        for fmt in plain
        for mantissa, lowest in [widths(fmt)]
    ]
    return STEP_AT + _PLAIN.format(value=exact_text(said, value), rows="\n".join(rows))


def side_picture(said: str, rows: Sequence[BitRow], look: Look) -> Picture:
    """Return a row of cells for each format; a 1 is full, a 0 faint, both carry their digit."""
    layout, drawing = look.layout(), Drawing()
    size, is_dense = layout["font"]["size"], are_dense(rows)
    columns = range(min(row.columns[0] for row in rows), max(row.columns[-1] for row in rows) + 1)
    _draw_cells(drawing, rows, columns, look)
    drawing.scatter(  # unseen: the axis at the right needs it
        x=[None] * len(rows), y=list(range(len(rows))), yaxis="y2", hoverinfo="skip", mode="markers"
    )
    _draw_boundary(drawing, look, size)
    _frame_half(drawing, [row.fmt.name for row in rows], look)
    right = [f" {row.stored} · {error_text(row.trace)}" for row in rows]
    axes = {
        "xaxis": layout["xaxis"]
        | {"visible": False, "range": [columns[0] - 0.5, columns[-1] + 0.5], "fixedrange": True},
        **row_axes([row.fmt.name for row in rows], right, look, {"automargin": True}),
        "height": len(rows) * (DENSE_ROW_PX if is_dense else ROW_PX + (size > 15) * 6) + 4 * size,
        "margin": {"l": 8, "r": 8, "t": 2.2 * size, "b": 8},
        "showlegend": False,
    }
    figure = drawing.figure(layout | axes)
    return Picture(figure=figure, alt=_sentence(said, rows), table=_table(rows))


def _draw_cells(drawing: Drawing, rows: Sequence[BitRow], columns: range, look: Look) -> None:
    by_column = [dict(zip(row.columns, _row_cells(row), strict=True)) for row in rows]
    empty = (None, "", "")
    grid = [[cells.get(column, empty) for column in columns] for cells in by_column]
    levels = [shade for field in FIELD_ORDER for shade in _shades(field, look)]
    steps = [
        (place / 6, level) for number, level in enumerate(levels) for place in (number, number + 1)
    ]
    size, is_dense = look.layout()["font"]["size"], are_dense(rows)
    drawing.trace(
        "heatmap", x=list(columns), y=list(range(len(rows))),
        z=[[cell[0] for cell in line] for line in grid],
        text=[[cell[1] for cell in line] for line in grid],
        customdata=[[cell[2] for cell in line] for line in grid], texttemplate="%{text}",
        textfont={"size": min(size, 13) if is_dense else size},
        hovertemplate="%{customdata}<extra></extra>", colorscale=steps, zmin=-0.5, zmax=5.5,
        showscale=False, xgap=1.5, ygap=2 if is_dense else 8,
    )  # fmt: skip


def _row_cells(row: BitRow) -> list[tuple[int, str, str]]:
    top = row.fmt.bits - 1
    words = _("{format}: bit {number}, {field}")
    return [
        (
            2 * FIELD_ORDER.index(field) + int(bit),
            bit,
            words.format(format=row.fmt.name, number=top - place, field=_(FIELD_NAMES[field])),
        )
        for place, (bit, field) in enumerate(zip(row.bits, bit_fields(row.fmt), strict=True))
    ]


def _shades(field: Field, look: Look) -> tuple[str, str]:
    color = look.color(field)
    parts = zip(_channels(color), _channels(look.color("background")), strict=True)
    mixed = [round(FAINT * ink + (1 - FAINT) * ground) for ink, ground in parts]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})", color


def _channels(color: str) -> tuple[int, ...]:
    return tuple(int(color[start : start + 2], 16) for start in (1, 3, 5))


def _draw_boundary(drawing: Drawing, look: Look, size: int) -> None:
    line = {"color": look.color("text"), "width": 2}
    drawing.shape(type="line", x0=-0.5, x1=-0.5, xref="x", y0=0, y1=1, yref="y domain", line=line)
    for field, x, anchor, text in (
        ("exponent", -0.6, "right", _("sign, exponent ◂")),
        ("mantissa", -0.4, "left", _("▸ mantissa")),
    ):
        drawing.note(
            x=x, y=1, xref="x", yref="paper", text=f"<b>{text}</b>", xanchor=anchor,
            yanchor="bottom", font={"color": look.color(field), "size": size},
        )  # fmt: skip


def _frame_half(drawing: Drawing, names: Sequence[str], look: Look) -> None:
    if "float32" not in names or "bfloat16" not in names:
        return
    top, bottom = sorted((names.index("float32"), names.index("bfloat16")))
    drawing.shape(
        type="rect", x0=-9.5, x1=6.5, y0=top - 0.5, y1=bottom + 0.5,
        line={"color": look.color("accent"), "width": 3, "dash": "dot"},
    )  # fmt: skip


def error_text(trace: CastTrace) -> str:
    """Return the relative error, or the word for what happened instead."""
    if trace.outcome == "exact":
        return _("exact")
    if trace.outcome == "overflow":
        return _("overflow")
    if trace.relative_error is None:
        return "–"
    percent = to_float(trace.relative_error) * 100
    if abs(percent) >= 1000:
        return _("over 1000 %")
    if abs(percent) >= 99.5:  # two digits of it would be 1e+02
        return in_percent(f"{percent:+.0f}".replace("-", "−"))
    return in_percent(_TWO_PLACES.sub(r"\1", f"{percent:+.2g}").replace("-", "−"))


def half_sentence(rows: Sequence[BitRow]) -> str:
    """Return whether the bits of bfloat16 are the first 16 of float32; "" without both."""
    by_name = {row.fmt.name: row.bits for row in rows}
    if "float32" not in by_name or "bfloat16" not in by_name:
        return ""
    if by_name["float32"].startswith(by_name["bfloat16"]):
        return _("The 16 bits of bfloat16 are the first 16 bits of float32.")
    return _("bfloat16 is the upper half of float32, here rounded to the nearer neighbour.")


def _sentence(said: str, rows: Sequence[BitRow]) -> str:
    parts = [f"{row.fmt.name} {row.bits} = {row.stored} ({error_text(row.trace)})" for row in rows]
    start = _(
        "{value} in {count} formats, rows of bits aligned where the mantissa begins: {rows}."
    ).format(value=said, count=len(rows), rows=_("; ").join(parts))
    half = half_sentence(rows)
    return followed_by(start, half) if half else start


def _table(rows: Sequence[BitRow]) -> Table:
    errors = [row.trace.error for row in rows]
    return {
        _("format"): [row.fmt.name for row in rows],
        _("code"): [hex_code(row.fmt, row.trace.code) for row in rows],
        _("bits"): [row.bits for row in rows],
        _("stored value"): [row.stored for row in rows],
        _("absolute error"): ["–" if each is None else short_number(each, 4) for each in errors],
        _("relative error"): [error_text(row.trace) for row in rows],
    }


TAB = Tab(label=N_("Side by side"), show=side, choose=_choose_side, question=ask_below_one)
