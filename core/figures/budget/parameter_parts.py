"""Where a model's parameters are: from the whole to the matrices that hold them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import format_count, format_exact, format_percent

HEIGHT_PX: Final = 400
PRESENT_HEIGHT_PX: Final = 470
# What every part is about: the meaning whose colour it has.
_MEANINGS: Final[Mapping[str, str]] = {
    "token embedding": "embedding",
    "learned positions": "embedding",
    "head": "embedding",
    "attention": "attention",
    "feed-forward layers": "feed_forward",
    "gated feed-forward": "feed_forward",
    "feed-forward": "feed_forward",
    "experts": "experts",
    "shared experts": "experts",
}
_INK: Final = {"light": "#ffffff", "dark": "#10151d"}  # read on every colour of the parts


def parts_figure(tree: Item, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return an icicle: the whole on the left, its parts beside it, their matrices beside those.

    Args:
        tree: What `core.budget.parameters.count_parameters` returns.
        mode: "light" or "dark".
        present: For a projector.
    """
    layout = plotly_layout(mode, present=present)
    rows = list(_rows(tree))
    icicle = {
        "type": "icicle",
        "ids": [row["id"] for row in rows],
        "parents": [row["parent"] for row in rows],
        "labels": [_(row["item"].name) for row in rows],
        "values": [row["item"].amount for row in rows],
        "text": [_share(row["item"], tree) for row in rows],
        "customdata": [[row["item"].formula, row["item"].substituted] for row in rows],
        "branchvalues": "total",
        "sort": False,
        "textinfo": "label+text",
        "textfont": {"color": _INK[mode], "size": layout["font"]["size"]},
        "hovertemplate": "<b>%{label}</b> %{value:,}<br>%{customdata[0]}<br>= %{customdata[1]}"
        "<extra></extra>",
        "marker": {
            "colors": [_color(row["meaning"], mode) for row in rows],
            "line": {"color": COLORS[mode]["background"], "width": 2},
        },
        "tiling": {"orientation": "h", "pad": 1},
        "pathbar": {"visible": False},
        "domain": {"x": [0, 1], "y": [0, 1]},
    }
    sizes = {
        "height": PRESENT_HEIGHT_PX if present else HEIGHT_PX,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
    }
    return go.Figure(data=[icicle], layout=layout | sizes | {"template": "none"})


def _rows(tree: Item) -> Iterator[dict[str, Any]]:
    """Yield the whole, its parts and theirs; a part's meaning is that of its children."""
    yield {"id": "0", "parent": "", "item": tree, "meaning": "whole"}
    for number, part in enumerate(tree.children):
        meaning = _MEANINGS.get(part.name, "norms")
        yield {"id": f"0-{number}", "parent": "0", "item": part, "meaning": meaning}
        for below, line in enumerate(part.children):
            place = f"0-{number}-{below}"
            yield {"id": place, "parent": f"0-{number}", "item": line, "meaning": meaning}


def _color(meaning: str, mode: Mode) -> str:
    return COLORS[mode]["accent" if meaning == "whole" else meaning]


def _share(line: Item, tree: Item) -> str:
    count = format_count(line.amount)
    return count if line is tree else f"{count} · {format_percent(line.amount / tree.amount)}"


def parts_alt(title: str, tree: Item) -> str:
    """Return the picture in words: every part with its share, large to small."""
    parts = sorted(tree.children, key=lambda part: -part.amount)
    shares = [f"{_(part.name)} {format_percent(part.amount / tree.amount)}" for part in parts]
    return _("{count} parameters of {model}: {parts}.").format(
        count=format_exact(round(tree.amount)), model=title, parts=_(", ").join(shares)
    )


def parts_table(tree: Item) -> Mapping[str, Sequence[Any]]:
    """Return one row for each part and each matrix, with its formula and the numbers put in."""
    lines = [line for line in tree.walk() if line is not tree]
    return {
        _("part"): [_(line.name) for line in lines],
        _("parameters"): [format_exact(round(line.amount)) for line in lines],
        _("share"): [format_percent(line.amount / tree.amount) for line in lines],
        _("formula"): [line.formula.replace("*", "×") for line in lines],
        _("with numbers"): [line.substituted.replace("*", "×") for line in lines],
    }
