"""What the pictures of the parallelism page share: rows of squares or passes, and lying bars.

Heights and the margin above the rows, `top`, are in px; other fields are Plotly's.
"""

from typing import TYPE_CHECKING, Any

from core.figures.picture import Drawing, Look

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Fields = dict[str, Any]


def text_size(look: Look) -> int:
    """Return the size of the text in px, by which pictures measure their rows."""
    return int(look.layout()["font"]["size"])


def bare_rows(
    drawing: Drawing, look: Look, *, x: Fields, y: Fields, height: int, top: int, **layout: object
) -> "Figure":
    """Return rows on axes without lines, which have these fields on top of the theme's."""
    base = look.layout()
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True}
    axes = {"xaxis": base["xaxis"] | bare | x, "yaxis": base["yaxis"] | bare | y}
    return drawing.figure(base | axes | _place(height, top) | layout)


def lying_bars(
    drawing: Drawing, look: Look, *, room: float, height: int, top: int, **layout: object
) -> "Figure":
    """Return bars from left to right on an unseen axis up to `room`, the first row at the top."""
    base = look.layout()
    axes = {
        "xaxis": {"visible": False, "range": [0, room], "fixedrange": True},
        "yaxis": base["yaxis"] | {"autorange": "reversed", "showgrid": False, "fixedrange": True},
    }
    return drawing.figure(base | axes | _place(height, top) | layout)


def _place(height: int, top: int) -> Fields:
    return {"height": height, "margin": {"l": 8, "r": 8, "t": top, "b": 8}}
