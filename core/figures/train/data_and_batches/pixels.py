"""What normalization makes of a pixel."""

from typing import Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.train.text.mnist import BRIGHTEST, DEVIATION, MEAN, normalized

HEIGHT_PX: Final = 320


def pixels_picture(pixel: int, look: Look) -> Picture:
    """Return the line from each pixel to its normalized value, with one pixel marked."""
    layout, drawing = look.layout(), Drawing()
    pixels = (0, pixel, BRIGHTEST)
    values = [normalized(each).amount for each in pixels]
    drawing.scatter(
        x=[0, BRIGHTEST], y=[values[0], values[-1]], mode="lines", showlegend=False,
        line={"color": look.color("accent"), "width": 3}, hoverinfo="skip",
    )  # fmt: skip
    drawing.scatter(
        x=list(pixels), y=values, mode="markers+text", showlegend=False, cliponaxis=False,
        text=[f"{value:.4f}" for value in values],
        textposition=["bottom right", "bottom right", "top left"],
        marker={"size": [10, 16, 10], "color": look.color("candidate_high")},
        hovertemplate=_("pixel") + " %{x}: %{y:.4f}<extra></extra>",
    )  # fmt: skip
    drawing.shape(
        type="line", x0=0, x1=BRIGHTEST, y0=0, y1=0,
        line={"color": look.color("muted"), "width": 1, "dash": "dot"},
    )  # fmt: skip
    fields = {
        "height": HEIGHT_PX,
        "margin": {"l": 8, "r": 24, "t": 16, "b": 8},
        "xaxis": layout["xaxis"] | {"title": {"text": _("pixel")}, "zeroline": False},
        "yaxis": layout["yaxis"] | {"title": {"text": _("after normalization")}, "zeroline": False},
    }
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_(
            "A straight line from {low} for a black pixel to {high} for a white one; pixel {pixel} "
            "becomes {value}. Mean {mean}, standard deviation {deviation}."
        ).format(
            low=f"{values[0]:.4f}", high=f"{values[2]:.4f}", pixel=pixel, value=f"{values[1]:.4f}",
            mean=MEAN, deviation=DEVIATION,
        ),
        table={_("pixel"): list(pixels), _("after normalization"): values},
    )  # fmt: skip
