"""Cells in the colours of what they mean: a heatmap for each meaning, one above the other."""

from collections.abc import Sequence

from core.figures.picture import Drawing, Look


def draw_layers(
    drawing: Drawing,
    levels: Sequence[Sequence[int]],
    shares: Sequence[tuple[str, float]],
    look: Look,
    *,
    left: float = 0,
    axes: tuple[str, str] = ("x", "y"),
) -> None:
    """Draw rows of cells, the first at y = 0.

    Args:
        drawing: What they are added to.
        levels: What each cell means: a place in `shares`.
        shares: Colour of each meaning, and how opaque it is.
        look: How the reader wants to see.
        left: Where the first column stands.
        axes: Names of the axes.
    """
    for level, (meaning, share) in enumerate(shares):
        color = look.color(meaning)
        drawing.trace(
            "heatmap",
            x=[left + j for j in range(max(map(len, levels), default=0))],
            y=list(range(len(levels))),
            z=[[1 if each == level else None for each in row] for row in levels],
            colorscale=[[0, color], [1, color]],
            opacity=share,
            showscale=False,
            hoverinfo="skip",
            xgap=2,
            ygap=2,
            xaxis=axes[0],
            yaxis=axes[1],
        )
