"""What torch and the hardware do: every dtype's operations, and chips by formats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from core.dtypes.libraries.finfo import format_of
from core.dtypes.libraries.hardware import COLUMNS, HARDWARE, STATUS_WORDS, Chip, Source, column_of
from core.dtypes.libraries.library_records import LibraryReport, OperationRow
from core.dtypes.number_formats.format import Format
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from pages.dtypes.rounding_and_overflow.inputs import ASK, Case
from pages.shared.charts import table_markdown
from pages.shared.dtypes.asked_report import asked_report
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

_WHOLE: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
# The dtypes of torch in groups that fit a screen, and how their names begin; the first that fits.
FAMILIES: Final = {
    "floats": N_("floats"),
    "integers": N_("whole bytes"),
    "few": N_("1 to 7 bits"),
    "others": N_("complex, quantized, bits"),
}
_STARTS: Final = (("float", "bfloat"), _WHOLE, ("int", "uint"), ("",))
VIEWS: Final = {"operations": N_("Operations"), "hardware": N_("Hardware")}
_MARK_ROW_PX: Final = 14
_SLANTED_PX: Final = 5  # a slanted name needs about this much height for each letter
# What a mark looks like (a marker of plotly, or a single sign that is written), and its colour.
_CHIP_MARKS: Final = {
    "matrix": ("square", "matrix_units"),
    "vector": ("circle", "vector_units"),
    "converted": ("triangle-down-open", "converted"),
    "no": ("x-thin", "absent"),
    "unknown": ("?", "muted"),
}
_OPERATION_MARKS: Final = {"works": ("circle", "works"), "refused": ("x-thin", "refused")}
_OPERATION_WORDS: Final = {"works": N_("works"), "refused": N_("refused")}
Marks = Mapping[tuple[str, str], tuple[str, str]]  # row, column -> kind of mark, hover


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to show of this torch: a view and, of the operations, a family of dtypes on a device."""

    view: str
    family: str = ""
    device: str = ""


def _choose_torch() -> Wanted:
    view = ASK.selectbox("torch", _("What to show"), VIEWS, default="operations")
    if view == "hardware":
        return Wanted(view)
    family = ASK.selectbox("family", _("Dtypes"), FAMILIES, default="floats")
    devices = {"cpu": "CPU", "accelerator": N_("accelerator")}
    return Wanted(view, family, ASK.segmented("device", _("Device"), devices, default="cpu"))


def your_torch(case: Case, wanted: Wanted) -> Shown:
    """Show what torch can do with each dtype, or what chips compute in."""
    if wanted.view == "hardware":
        return _hardware(case.fmt)
    report = asked_report()
    if report is None:
        return Shown(headline=_("What your torch does: ask it below"))
    shown = _operations(report, case, wanted)
    where = _("Asked in a separate process: torch {torch}.").format(torch=report.torch)
    return replace(shown, notes=[*shown.notes, where])


def _operations(report: LibraryReport, case: Case, wanted: Wanted) -> Shown:
    device = report.devices[0 if wanted.device == "cpu" else -1]
    if wanted.device != "cpu" and len(report.devices) == 1:
        headline = _("Operations of torch {version}: n/a on this device")
        notes = [_("n/a on this device")]
        return Shown(headline=headline.format(version=report.torch), notes=notes)
    rows = [row for row in report.operations if row.device == device]
    rows = [row for row in rows if family_of(row.dtype) == wanted.family]
    of_format = [row for row in rows if format_of(row.dtype) is case.fmt]
    headline = _("{format}: torch {version} on {device} does {count} of {total} operations").format(
        format=case.fmt.name if of_format else _(FAMILIES[wanted.family]),
        version=report.torch,
        device=device,
        count=sum(row.works for row in of_format or rows),
        total=len(of_format or rows),
    )
    tried = _(
        "Each was really tried on a small square of ones, on {device}; a result that is not "
        "right does not count. Where torch cannot convert, it got raw bytes."
    ).format(device=device)
    picture = operations_picture(rows, look())
    chart = Chart(picture=picture, file_name="torch-operations", key="operations")
    return Shown(headline=headline, charts=[chart], notes=[tried])


def family_of(dtype: str) -> str:
    """Return the family that a torch dtype is shown in.

    >>> family_of("bfloat16"), family_of("uint3"), family_of("uint32"), family_of("quint8")
    ('floats', 'few', 'integers', 'others')
    """
    return next(
        name for name, starts in zip(FAMILIES, _STARTS, strict=True) if dtype.startswith(starts)
    )


def operations_picture(rows: Sequence[OperationRow], look: Look) -> Picture:
    """Return a row a dtype and a column an operation; torch's own words stand behind a failure."""
    marks = {
        (row.dtype, row.operation): (
            "works" if row.works else "refused",
            f"<b>{row.dtype}</b> · {row.operation}<br>{row.message or _('works')}",
        )
        for row in rows
    }
    able: dict[str, int] = {}
    for row in rows:
        able[row.dtype] = able.get(row.dtype, 0) + row.works
    told = _("; ").join(f"{name} {count}" for name, count in able.items())
    total = len({row.operation for row in rows})
    refused = [row for row in rows if not row.works]
    drawing, layout = mark_matrix(marks, _OPERATION_MARKS, _OPERATION_WORDS, look, slanted=True)
    return Picture(
        figure=drawing.figure(layout),
        alt=_("Of {total} operations work: {dtypes}.").format(total=total, dtypes=told),
        table={
            _("dtype"): [row.dtype for row in refused],
            _("operation"): [row.operation for row in refused],
            _("torch's own words"): [row.message for row in refused],
        },
    )


def _hardware(fmt: Format) -> Shown:
    """Show chips by formats, the column of this format on a band, and its sources below."""
    column = column_of(fmt.name)

    def show_sources() -> None:
        with st.expander(_("Who says so, and when"), icon=":material/menu_book:"):
            st.markdown(table_markdown(source_rows(column or next(iter(COLUMNS)))))

    return Shown(
        headline=chips_sentence(fmt),
        charts=[Chart(picture=hardware_picture(column, look()), file_name="hardware")],
        notes=[_("? is unknown: no document was found that says it, and nothing is guessed.")],
        below=show_sources,
    )


def chips_sentence(fmt: Format) -> str:
    """Return how many of the chips multiply a format in units for matrices."""
    column, total = column_of(fmt.name), len(HARDWARE)
    if column is None:
        text = _("{format} has no column: none of these {total} chips is known to compute in it")
        return text.format(format=fmt.name, total=total)
    able = sum(chip.status(column) == "matrix" for chip in HARDWARE)
    text = _("{format}: {count} of {total} chips multiply it in matrix units")
    return text.format(format=column, count=able, total=total)


def hardware_picture(column: str | None, look: Look) -> Picture:
    """Return a row a chip and a column a format; the column in question lies on a band."""
    marks = {
        (chip.name, name): (cell.status, cell_words(chip, name))
        for chip in HARDWARE
        for name, cell in chip.cells.items()
    }
    table = {_("chip"): [f"{chip.name}, {chip.year}, {chip.architecture}" for chip in HARDWARE]}
    for name in COLUMNS:
        table[name] = [_(STATUS_WORDS[chip.status(name)]) for chip in HARDWARE]
    if column is None:
        alt = _("{chips} chips by {formats} formats: what each computes natively.").format(
            chips=len(HARDWARE), formats=len(COLUMNS)
        )
    else:
        by_status = {
            _(words): [chip.name for chip in HARDWARE if chip.status(column) == status]
            for status, words in STATUS_WORDS.items()
        }
        parts = [
            _("{label}: {text}").format(label=words, text=_(", ").join(names))
            for words, names in by_status.items()
            if names
        ]
        alt = _("{format} on {chips} chips. {parts}.").format(
            format=column, chips=len(HARDWARE), parts=_("; ").join(parts)
        )
    drawing, layout = mark_matrix(marks, _CHIP_MARKS, STATUS_WORDS, look, lit=column)
    return Picture(figure=drawing.figure(layout), alt=alt, table=table)


def cell_words(chip: Chip, column: str) -> str:
    cell = chip.cells[column]
    lines = [f"<b>{chip.name}</b> · {column}: {_(STATUS_WORDS[cell.status])}"]
    if cell.note:
        lines.append(_(cell.note))
    if cell.source is not None:
        lines.append(f"{cell.source.title} ({cell.source.date})")
    return "<br>".join(lines)


def source_rows(column: str) -> Table:
    cells = [chip.cells[column] for chip in HARDWARE]
    return {
        _("chip"): [chip.name for chip in HARDWARE],
        column: [_(STATUS_WORDS[cell.status]) for cell in cells],
        _("source"): [_linked(cell.source) for cell in cells],
        _("date"): [cell.source.date if cell.source else "–" for cell in cells],
        _("note"): [_(cell.note) if cell.note else "" for cell in cells],
    }


def _linked(source: Source | None) -> str:
    if source is None:
        return "–"
    return f"[{source.title}]({source.address})" if source.address else source.title


def mark_matrix(
    marks: Marks,
    looks: Mapping[str, tuple[str, str]],
    words: Mapping[Any, str],
    look: Look,
    *,
    lit: str | None = None,
    slanted: bool = False,
) -> tuple[Drawing, dict[str, Any]]:
    """Return marks, rows and columns in the order in which they come, and their layout.

    For each kind of mark `looks` has its symbol and the meaning of its colour, `words` what the
    legend says. A band lies under the column `lit`; many columns have `slanted` names.
    """
    layout, drawing = look.layout(), Drawing()
    size = int(layout["font"]["size"])
    rows, columns = [list(dict.fromkeys(pair[part] for pair in marks)) for part in (0, 1)]
    for kind, (symbol, meaning) in looks.items():
        cells = [(pair, hover) for pair, (each, hover) in marks.items() if each == kind]
        _draw_marks(drawing, cells, symbol, look.color(meaning), _(words[kind]), size)
    if lit in columns:
        place, color = columns.index(lit), look.color("surface")
        drawing.shape(
            type="rect", x0=place - 0.5, x1=place + 0.5, y0=0, y1=1, xref="x", yref="y domain",
            fillcolor=color, layer="below", line={"width": 0},
        )  # fmt: skip
    slant = _SLANTED_PX * max(map(len, columns), default=0) * size // 15 if slanted else 0
    named = {"type": "category", "categoryorder": "array", "tickmode": "array", "fixedrange": True}
    across = {"categoryarray": columns, "tickvals": columns, "range": [-0.5, len(columns) - 0.5]}
    above = {"tickangle": -35 if slanted else 0, "side": "top", "showgrid": False}
    down = {"categoryarray": rows, "tickvals": rows, "range": [len(rows) - 0.5, -0.5]}
    frame = {
        "height": len(rows) * (_MARK_ROW_PX + size // 2) + 4 * size + slant,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "legend": layout["legend"] | {"y": -0.02, "yanchor": "top"},
        "xaxis": layout["xaxis"] | named | across | above,
        "yaxis": layout["yaxis"] | named | down,
    }
    return drawing, layout | frame


def _draw_marks(
    drawing: Drawing,
    cells: Sequence[tuple[tuple[str, str], str]],
    symbol: str,
    color: str,
    words: str,
    size: int,
) -> None:
    is_sign = len(symbol) == 1
    drawing.scatter(
        x=[column for (_row, column), _hover in cells], y=[row for (row, _column), _hover in cells],
        mode="text" if is_sign else "markers", text=[symbol] * len(cells),
        textfont={"color": color, "size": size + 2},
        marker={
            "symbol": "circle" if is_sign else symbol,
            "color": color,
            "size": size,
            "line": {"color": color, "width": 2},
        },
        name=words, hovertext=[hover for _pair, hover in cells], hoverinfo="text",
        legendgroup=words, showlegend=bool(cells) and not is_sign,
    )  # fmt: skip
    if cells and is_sign:  # an entry that names it: plotly's own shows "Aa" for all words
        drawing.scatter(
            x=[None], y=[None], mode="markers", marker={"color": "rgba(0,0,0,0)"},
            name=f'<b style="color:{color}">{symbol}</b> {words}', legendgroup=words,
            hoverinfo="skip",
        )  # fmt: skip


TAB = Tab(
    label=N_("Your torch"), show=your_torch, choose=_choose_torch, reading="torch",
    unseen=("value",),
)  # fmt: skip
