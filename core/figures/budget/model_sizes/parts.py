"""Where a model's parameters are: a bar for each part, in the order in which a token meets them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.item import Item
from core.budget.weights.parameters import PART_NAMES
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _
from core.units import format_count, format_exact, format_percent

SMALLEST: Final = 0.001  # of all parameters: what is smaller stands together in the last bar
_ROW_HEIGHT: Final = {False: 2.4, True: 1.8}  # of the text's size; on a projector True
_ROOM: Final = {False: 1.25, True: 1.45}  # of the longest bar: its number stands beside it
_MEANINGS: Final[Mapping[str, str]] = {
    "token_embedding": "embedding",
    "layer_embeddings": "embedding",
    "positions": "embedding",
    "head": "embedding",
    "attention": "attention",
    "recurrent": "attention",
    "layer_inputs": "feed_forward",
    "dense_ffn": "feed_forward",
    "experts": "experts",
    "shared_experts": "experts",
}
_MEANING_OF: Final = {PART_NAMES[part]: meaning for part, meaning in _MEANINGS.items()}


@dataclass(frozen=True, slots=True)
class Row:
    """One bar: a translated label, the part of the model, the parameters and what they are."""

    label: str
    part: str
    amount: float
    explained: str


def part_rows(tree: Item) -> tuple[Row, ...]:
    """Return a row for each matrix or table; what is small stands together in the last one.

    Args:
        tree: What `core.budget.weights.parameters.count_parameters` returns.
    """
    rows = list(_rows(tree))
    large = [row for row in rows if row.amount >= SMALLEST * tree.amount]
    rest = [row for row in rows if row.amount < SMALLEST * tree.amount]
    if not rest:
        return tuple(large)
    label = _("the rest: {parts}").format(parts=_(", ").join(row.label for row in rest))
    amount = sum(row.amount for row in rest)
    short = _("the rest")
    return (*large, Row(short, short, amount, label))


def _rows(tree: Item) -> Iterator[Row]:
    for part in tree.children:
        for line in part.children or (part,):
            explained = f"{line.formula}<br>= {line.substituted}"
            yield Row(_(line.name), part.name, line.amount, explained)


def parts_picture(model: str, tree: Item, idle: Mapping[str, float], look: Look) -> Picture:
    """Return a bar a part; what is not active for a token is hatched.

    Args:
        model: Its name.
        tree: What `core.budget.weights.parameters.count_parameters` returns.
        idle: What `core.budget.weights.parameters.left_out` returns.
        look: How the reader wants to see.
    """
    layout = look.layout()
    drawing, rows = Drawing(), part_rows(tree)
    names = {PART_NAMES[part]: amount for part, amount in idle.items()}
    left = [names.get(row.part, 0) for row in rows]
    used = [row.amount - out for row, out in zip(rows, left, strict=True)]
    _draw(drawing, rows, used, "", _("active for a token"), look)
    if idle:
        _draw(drawing, rows, left, "/", _("not active"), look)
    for row in rows:
        share = format_percent(row.amount / tree.amount)
        text = f" <b>{share}</b>  {format_count(row.amount)}"
        drawing.note(x=row.amount, y=row.label, text=text, xanchor="left")
    size = layout["font"]["size"]
    longest = max(row.amount for row in rows)
    axes = {
        "xaxis": {
            "visible": False,
            "range": [0, _ROOM[look.present] * longest],
            "fixedrange": True,
        },
        "yaxis": layout["yaxis"] | {"autorange": "reversed", "showgrid": False, "fixedrange": True},
        "height": round((len(rows) * _ROW_HEIGHT[look.present] + (3 if idle else 1)) * size),
        "margin": {"l": 8, "r": 8, "t": 2 * size if idle else 8, "b": 8},
        "legend": layout["legend"] | {"traceorder": "normal"},
        "showlegend": bool(idle),
    }
    figure = drawing.figure(layout | axes | {"barmode": "stack", "bargap": 0.25})
    return Picture(figure=figure, alt=_sentence(model, tree), table=_table(tree))


def _draw(
    drawing: Drawing,
    rows: Sequence[Row],
    lengths: Sequence[float],
    pattern: str,
    name: str,
    look: Look,
) -> None:
    colors = [look.color(_MEANING_OF.get(row.part, "norms")) for row in rows]
    drawing.bar(
        orientation="h",
        y=[row.label for row in rows],
        x=list(lengths),
        name=name,
        marker={"color": colors, "pattern": {"shape": pattern}},
        customdata=[[format_exact(round(row.amount)), row.explained] for row in rows],
        hovertemplate="%{y}: %{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )


def _sentence(model: str, tree: Item) -> str:
    """Return every part with its share, large to small."""
    parts = sorted(tree.children, key=lambda part: -part.amount)
    shares = [f"{_(part.name)} {format_percent(part.amount / tree.amount)}" for part in parts]
    return _("{count} parameters of {model}: {parts}.").format(
        count=format_exact(round(tree.amount)), model=model, parts=_(", ").join(shares)
    )


def _table(tree: Item) -> Table:
    """Return one row for each part and each matrix, with its formula and the numbers put in."""
    lines = [line for line in tree.walk() if line is not tree]
    return {
        _("part"): [_(line.name) for line in lines],
        _("parameters"): [format_exact(round(line.amount)) for line in lines],
        _("share"): [format_percent(line.amount / tree.amount) for line in lines],
        _("formula"): [line.formula.replace("*", "×") for line in lines],
        _("with numbers"): [line.substituted.replace("*", "×") for line in lines],
    }
