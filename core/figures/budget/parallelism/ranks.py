"""Every rank as a square: its row is the pipeline stage, its colour the bytes that it holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.parallel.ranks import Rank, RankGrid
from core.figures.budget.parallelism.frame import bare_rows, text_size
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _, ngettext
from core.units import format_percent

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
        ranks_of_a_replica: Ranks of one stage that work on the same sequences.
        is_guess: Whether these bytes are a guess.
    """

    grid: RankGrid
    num_bytes: Sequence[int]
    num_layers: Sequence[int]
    capacity: float
    ranks_of_a_replica: int
    is_guess: bool = False


def ranks_picture(view: GridView, look: Look) -> Picture:
    """Return the squares; a frame runs round the devices of each node."""
    drawing = Drawing()
    _draw_squares(drawing, view, look)
    x, y = _frames(view.grid)
    frame = {"color": look.color("text"), "width": 2}
    drawing.scatter(x=x, y=y, mode="lines", line=frame, hoverinfo="skip", showlegend=False)
    num_rows, num_columns = len(view.grid.rows), len(view.grid.rows[0])
    places, names = _replicas(view)
    shown = range(0, num_rows, -(-num_rows // _MOST_TICKS))
    figure = bare_rows(
        drawing,
        look,
        x={
            "title": {"text": _("data-parallel rank"), "standoff": 4},
            "tickvals": places,
            "ticktext": names,
            "range": [-0.6, num_columns - 0.4],
        },
        y={
            "tickvals": list(shown),
            "ticktext": [_row_name(view, row, look) for row in shown],
            "range": [num_rows - 0.4, -0.6],
        },
        height=min(_HEIGHT_PX, num_rows * _ROW_PX + 4 * text_size(look) + 20),
        top=12,
        showlegend=False,
    )
    return Picture(figure=figure, alt=_sentence(view, look), table=_table(view, look))


def _draw_squares(drawing: Drawing, view: GridView, look: Look) -> None:
    columns = len(view.grid.rows[0])
    shares = [amount / view.capacity for amount in view.num_bytes]
    numbered = columns <= _MOST_NUMBERED and len(view.grid.rows) <= _MOST_TICKS
    # Up to the capacity the colour deepens; beyond it another one begins, and the row says so.
    beyond = look.color("overflow")
    shades = [[0, look.color("surface")], [0.5, look.color("weights")]]
    drawing.trace(
        "heatmap",
        z=[[min(shares[row[0].stage], 2.0)] * columns for row in view.grid.rows],
        zmin=0,
        zmax=2,
        colorscale=[*shades, [0.5001, beyond], [1, beyond]],
        showscale=False,
        xgap=2,
        ygap=2,
        text=[[str(rank.number) if numbered else "" for rank in row] for row in view.grid.rows],
        texttemplate="%{text}",
        customdata=[[_hover(rank, view, look) for rank in row] for row in view.grid.rows],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _hover(rank: Rank, view: GridView, look: Look) -> str:
    sentence = _(
        "rank {rank}: stage {stage}, data-parallel rank {replica}, tensor-parallel rank {tensor}, "
        "node {node}; {size}"
    )
    if any(each.context for each in view.grid.rows[0]):
        sentence = _(
            "rank {rank}: stage {stage}, data-parallel rank {replica}, context-parallel rank "
            "{context}, tensor-parallel rank {tensor}, node {node}; {size}"
        )
    return sentence.format(
        rank=rank.number,
        context=rank.context,
        stage=rank.stage,
        replica=rank.replica,
        tensor=rank.tensor,
        node=rank.node,
        size=look.format_bytes(view.num_bytes[rank.stage]),
    )


def _row_name(view: GridView, stage: int, look: Look) -> str:
    num_layers = view.num_layers[stage]
    words = ngettext(
        "stage {stage}: {count} layer, {size}", "stage {stage}: {count} layers, {size}", num_layers
    ).format(stage=stage, count=num_layers, size=look.format_bytes(view.num_bytes[stage]))
    mark = "≈" if view.is_guess else "✗"
    return f"{mark} {words}" if view.num_bytes[stage] > view.capacity else words


def _replicas(view: GridView) -> tuple[list[float], list[str]]:
    """Return where the replicas stand and their numbers, not more than there is room for."""
    num_replicas = -(-len(view.grid.rows[0]) // view.ranks_of_a_replica)
    step = -(-num_replicas // _MOST_TICKS)
    shown = range(0, num_replicas, step)
    middle = (view.ranks_of_a_replica - 1) / 2
    return [replica * view.ranks_of_a_replica + middle for replica in shown], [
        str(each) for each in shown
    ]


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


def _sentence(view: GridView, look: Look) -> str:
    """Return which stage holds most and which least."""
    least, most = min(view.num_bytes), max(view.num_bytes)
    values = {
        "stages": view.grid.num_stages,
        "ranks": view.grid.num_columns,
        "busiest": list(view.num_bytes).index(most),
        "most": look.format_bytes(most),
        "idlest": list(view.num_bytes).index(least),
        "least": look.format_bytes(least),
        "capacity": look.format_bytes(view.capacity),
    }
    if view.grid.num_stages == 1:
        return ngettext(
            "One pipeline stage of one rank. It holds {most}; a device has {capacity}.",
            "One pipeline stage of {ranks} ranks. Each holds {most}; a device has {capacity}.",
            view.grid.num_columns,
        ).format(**values)
    return ngettext(
        "{stages} pipeline stages of one rank each. Stage {busiest} uses the most memory, {most}, "
        "stage {idlest} the least, {least}; a device has {capacity}.",
        "{stages} pipeline stages of {ranks} ranks each. A rank of stage {busiest} uses the most "
        "memory, {most}, one of stage {idlest} the least, {least}; a device has {capacity}.",
        view.grid.num_columns,
    ).format(**values)


def _table(view: GridView, look: Look) -> Table:
    """Return one row a stage."""
    stages = range(view.grid.num_stages)
    return {
        _("stage"): list(stages),
        _("layers"): list(view.num_layers),
        _("ranks"): [view.grid.num_columns for _stage in stages],
        _("bytes of each"): [look.format_bytes(amount) for amount in view.num_bytes],
        _("of the device"): [format_percent(amount / view.capacity) for amount in view.num_bytes],
    }
