"""Three sizes in five formats side by side, against the memories of one to four devices."""

from collections.abc import Sequence
from typing import Final

from core.budget.weights.sizes import Cell
from core.figures.budget.model_sizes.one_model import Line, verdict
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _
from core.units import GIB, ByteUnit

HEIGHT_PX: Final = 390
PRESENT_HEIGHT_PX: Final = 410
_TOKENS: Final = ("format_a", "format_b", "format_c")
_PATTERNS: Final = ("", "/", ".")
_ROOM: Final = 1.12
_GAP: Final = 0.18  # between two groups of bars
_NAME: Final = 7  # times the text's size, to the right of the bars: the name of a line


def two_decimals(num_bytes: float, unit: ByteUnit) -> str:
    """Return bytes in GiB or GB with two decimals, as tables print them.

    >>> two_decimals(28e9, "GiB"), two_decimals(28e9, "GB")
    ('26.08 GiB', '28.00 GB')
    """
    return f"{num_bytes / (GIB if unit == 'GiB' else 1e9):,.2f} {unit}"


def table_picture(cells: Sequence[Cell], lines: Sequence[Line], look: Look) -> Picture:
    """Return a group of bars for each format, one bar for each size, and a line for each memory.

    Args:
        cells: The table, cell by cell.
        lines: Memories to hold the bars against; the table's verdicts speak of the first.
        look: How the reader wants to see.
    """
    layout = look.layout()
    drawing = Drawing()
    rows = list(dict.fromkeys(cell.size.name for cell in cells))
    for number, row in enumerate(rows):
        _draw_row(drawing, [cell for cell in cells if cell.size.name == row], number, look)
    num_groups = len(cells) // len(rows)
    highest = _ROOM * max(cell.item.amount for cell in cells)
    for line in lines:
        if line.num_bytes < highest:
            _draw_line(drawing, line, look)
    axes = {
        "xaxis": layout["xaxis"]
        | {
            "range": [-0.5, num_groups - 0.5],
            "fixedrange": True,
            "showgrid": False,
        },
        "yaxis": {"visible": False, "range": [0, highest], "fixedrange": True},
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": _NAME * layout["font"]["size"], "t": 32, "b": 8},
    }
    figure = drawing.figure(layout | axes | {"barmode": "group", "bargap": _GAP})
    return Picture(figure=figure, alt=_sentence(cells, look), table=_table(cells, lines[0], look))


def _draw_row(drawing: Drawing, cells: Sequence[Cell], number: int, look: Look) -> None:
    width = (1 - _GAP) / len(_TOKENS)
    texts = [_short(look.in_unit(cell.item.amount)) for cell in cells]
    for group, (cell, text) in enumerate(zip(cells, texts, strict=True)):
        drawing.note(  # on the ground's colour: no line of a device runs through a number
            x=group + (number - 1) * width,
            y=cell.item.amount,
            yanchor="bottom",
            yshift=2,
            borderpad=0,
            bgcolor=look.color("background"),
            text=text,
        )
    drawing.bar(
        x=[cell.format_name for cell in cells],
        y=[cell.item.amount for cell in cells],
        name=cells[0].size.name,
        marker={"color": look.color(_TOKENS[number]), "pattern": {"shape": _PATTERNS[number]}},
        customdata=[two_decimals(cell.item.amount, look.unit) for cell in cells],
        hovertemplate="%{x}: %{customdata}<extra>%{fullData.name}</extra>",
    )


def _short(amount: float) -> str:
    """Return a number with three digits, as it stands above a bar.

    >>> _short(260.77), _short(13.039), _short(3.26)
    ('261', '13.0', '3.26')
    """
    return f"{amount:.{2 if amount < 9.995 else 1 if amount < 99.95 else 0}f}"


def _draw_line(drawing: Drawing, line: Line, look: Look) -> None:
    color = look.color("muted")
    drawing.shape(
        type="line",
        layer="below",
        xref="paper",
        x0=0,
        x1=1,
        y0=line.num_bytes,
        y1=line.num_bytes,
        line={"color": color, "width": 1.5, "dash": "dot"},
    )
    drawing.note(
        xref="paper",
        x=1,
        y=line.num_bytes,
        xanchor="left",
        align="left",
        text=f" {line.name}<br> {look.format_bytes(line.num_bytes)}",
        font={"color": color},
    )


def _sentence(cells: Sequence[Cell], look: Look) -> str:
    parts = [
        f"{cell.size.name} {cell.format_name} {two_decimals(cell.item.amount, look.unit)}"
        for cell in cells
    ]
    return _("Weights side by side: {parts}.").format(parts=_(", ").join(parts))


def _table(cells: Sequence[Cell], chosen: Line, look: Look) -> Table:
    """Return one row a cell; beside it what the tutorial printed, where it differs."""
    return {
        _("model"): [cell.size.name for cell in cells],
        _("format"): [cell.format_name for cell in cells],
        _("weights"): [two_decimals(cell.item.amount, look.unit) for cell in cells],
        _("printed in the tutorial"): [_printed(cell) for cell in cells],
        chosen.name: [verdict(cell.item, chosen) for cell in cells],
    }


def _printed(cell: Cell) -> str:
    if cell.printed is None:
        return "–"
    printed = f'{cell.printed:.2f} "GB"'
    return f"✗ {printed}" if cell.was_wrong else printed
