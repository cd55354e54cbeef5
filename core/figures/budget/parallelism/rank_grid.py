"""Every rank as a square: its row is the pipeline stage, its colour the bytes that it holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from core.budget.parallel.ranks import Rank, RankGrid
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _, ngettext
from core.units import ByteUnit, format_bytes, format_percent

_HEIGHT_PX: Final = 400
_ROW_PX: Final = 46
_MOST_NUMBERED: Final = 32  # squares in a row that still have room for a number
_MOST_TICKS: Final = 16
_INSET: Final = 0.03
Line = tuple[list[float | None], list[float | None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class GridView:
    """What the picture shows.

    Attributes:
        grid: The ranks.
        num_bytes: What a rank of each stage holds; one number a stage.
        num_layers: The layers of each stage.
        capacity: What a process can get of a device, in bytes.
        tensor: Ranks that share each matrix.
    """

    grid: RankGrid
    num_bytes: Sequence[int]
    num_layers: Sequence[int]
    capacity: float
    tensor: int


def rank_grid_figure(
    view: GridView, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return the squares; a frame runs round the devices of each node."""
    layout = plotly_layout(mode, present=present)
    color = COLORS[mode]
    drawing = Drawing()
    drawing.traces.append(_squares(view, unit, color))
    x, y = _frames(view.grid)
    frame = {"color": color["text"], "width": 2}
    drawing.scatter(x=x, y=y, mode="lines", line=frame, hoverinfo="skip", showlegend=False)
    num_rows, num_columns = len(view.grid.rows), len(view.grid.rows[0])
    size = int(layout["font"]["size"])
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True}
    ticks, names = _replicas(view)
    shown = range(0, num_rows, -(-num_rows // _MOST_TICKS))
    axes = {
        "xaxis": layout["xaxis"]
        | bare
        | {"tickvals": ticks, "ticktext": names, "range": [-0.6, num_columns - 0.4]}
        | {"title": {"text": _("replica"), "standoff": 4}},
        "yaxis": layout["yaxis"]
        | bare
        | {"tickvals": list(shown), "ticktext": [_row_name(view, row, unit) for row in shown]}
        | {"range": [num_rows - 0.4, -0.6]},
        "height": min(_HEIGHT_PX, num_rows * _ROW_PX + 4 * size + 20),
        "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
    }
    return drawing.figure(layout | axes | {"template": "none", "showlegend": False})


def _squares(view: GridView, unit: ByteUnit, color: Mapping[str, str]) -> dict[str, Any]:
    columns = len(view.grid.rows[0])
    shares = [amount / view.capacity for amount in view.num_bytes]
    numbered = columns <= _MOST_NUMBERED and len(view.grid.rows) <= _MOST_TICKS
    text = [[str(rank.number) if numbered else "" for rank in row] for row in view.grid.rows]
    # Up to the capacity the colour deepens; beyond it another one begins, and the row says so.
    shades = [[0, color["surface"]], [0.5, color["weights"]]]
    return {
        "type": "heatmap",
        "z": [[min(shares[row[0].stage], 2.0)] * columns for row in view.grid.rows],
        "zmin": 0,
        "zmax": 2,
        "colorscale": [*shades, [0.5001, color["overflow"]], [1, color["overflow"]]],
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "text": text,
        "texttemplate": "%{text}",
        "customdata": [[_hover(rank, view, unit) for rank in row] for row in view.grid.rows],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _hover(rank: Rank, view: GridView, unit: ByteUnit) -> str:
    return _(
        "rank {rank}: stage {stage}, replica {replica}, tensor rank {tensor}, node {node}; {size}"
    ).format(
        rank=rank.number,
        stage=rank.stage,
        replica=rank.replica,
        tensor=rank.tensor,
        node=rank.node,
        size=format_bytes(view.num_bytes[rank.stage], unit),
    )


def _row_name(view: GridView, stage: int, unit: ByteUnit) -> str:
    num_layers = view.num_layers[stage]
    words = ngettext(
        "stage {stage}: {count} layer, {size}", "stage {stage}: {count} layers, {size}", num_layers
    ).format(stage=stage, count=num_layers, size=format_bytes(view.num_bytes[stage], unit))
    return f"✗ {words}" if view.num_bytes[stage] > view.capacity else words


def _replicas(view: GridView) -> tuple[list[float], list[str]]:
    """Return where the replicas stand and their numbers, not more than there is room for."""
    num_replicas = -(-len(view.grid.rows[0]) // view.tensor)
    step = -(-num_replicas // _MOST_TICKS)
    shown = range(0, num_replicas, step)
    middle = (view.tensor - 1) / 2
    return [replica * view.tensor + middle for replica in shown], [str(each) for each in shown]


def _frames(grid: RankGrid) -> Line:
    """Return one line that runs round every node."""
    x: list[float | None] = []
    y: list[float | None] = []
    for left, top, right, bottom in _boxes(grid):
        x += [left, right, right, left, left, None]
        y += [top, top, bottom, bottom, top, None]
    return x, y


def _boxes(grid: RankGrid) -> Iterator[tuple[float, float, float, float]]:
    """Yield a box round the squares of each node: one box if they fill it, else one a row."""
    places: dict[int, list[tuple[int, int]]] = {}
    inset = _INSET * min(1.0, len(grid.rows[0]) / _MOST_TICKS)  # few squares are wide
    for row, ranks in enumerate(grid.rows):
        for column, rank in enumerate(ranks):
            places.setdefault(rank.node, []).append((column, row))
    for squares in places.values():
        rows = sorted({row for _column, row in squares})
        whole = len(squares) == len({column for column, _row in squares}) * len(rows)
        for part in [rows] if whole else [[row] for row in rows]:
            columns = [column for column, row in squares if row in part]
            yield (
                min(columns) - 0.5 + inset,
                part[0] - 0.5 + _INSET,
                max(columns) + 0.5 - inset,
                part[-1] + 0.5 - _INSET,
            )


def rank_grid_alt(view: GridView, unit: ByteUnit) -> str:
    """Return the picture in words."""
    least, most = min(view.num_bytes), max(view.num_bytes)
    values = {
        "stages": view.grid.num_stages,
        "ranks": view.grid.num_columns,
        "busiest": list(view.num_bytes).index(most),
        "most": format_bytes(most, unit),
        "idlest": list(view.num_bytes).index(least),
        "least": format_bytes(least, unit),
        "capacity": format_bytes(view.capacity, unit),
    }
    if view.grid.num_stages == 1:
        return ngettext(
            "One pipeline stage of one rank. It holds {most}; a device has {capacity}.",
            "One pipeline stage of {ranks} ranks. Each holds {most}; a device has {capacity}.",
            view.grid.num_columns,
        ).format(**values)
    return ngettext(
        "{stages} pipeline stages of one rank each. A rank of stage {busiest} holds most, {most}, "
        "one of stage {idlest} least, {least}; a device has {capacity}.",
        "{stages} pipeline stages of {ranks} ranks each. A rank of stage {busiest} holds most, "
        "{most}, one of stage {idlest} least, {least}; a device has {capacity}.",
        view.grid.num_columns,
    ).format(**values)


def rank_grid_table(view: GridView, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a stage."""
    stages = range(view.grid.num_stages)
    return {
        _("stage"): list(stages),
        _("layers"): list(view.num_layers),
        _("ranks"): [view.grid.num_columns for _stage in stages],
        _("bytes of each"): [format_bytes(amount, unit) for amount in view.num_bytes],
        _("of the device"): [format_percent(amount / view.capacity) for amount in view.num_bytes],
    }
