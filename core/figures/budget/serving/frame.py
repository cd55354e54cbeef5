"""What the pictures of the serving page share: two named axes and the word for what fits."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.language import _

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def framed(
    drawing: Drawing,
    look: Look,
    heights: tuple[int, int],
    *,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
) -> "Figure":
    """Return a picture over two axes that stay where they are, the legend above it.

    Args:
        drawing: What is drawn.
        look: How the reader wants to see.
        heights: In px, on a screen and on a projector.
        x: Fields of the axis on top of the theme's; its "title" is a plain translated text.
        y: The same for the axis at the left.
    """
    layout = look.layout()
    still = {"zeroline": False, "fixedrange": True}
    axes = {
        "xaxis": layout["xaxis"] | still | {**x, "title": {"text": x["title"]}},
        "yaxis": layout["yaxis"] | still | {**y, "title": {"text": y["title"], "standoff": 8}},
        "height": heights[look.present],
        "margin": {"l": 8, "r": 24, "t": 34, "b": 8},
    }
    return drawing.figure(layout | axes)


def fits_or_not(fits: bool) -> str:
    """Return whether something fits, in words."""
    return _("fits") if fits else _("does not fit")
