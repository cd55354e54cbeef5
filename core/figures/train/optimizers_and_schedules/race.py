"""Paths of optimizers over the contour lines of a loss."""

import math
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.train.optimizers.surfaces import Path, Surface

HEIGHT_PX: Final = 430
PRESENT_HEIGHT_PX: Final = 400
NUM_CELLS: Final = 70
NUM_LINES: Final = 14
MOST_POINTS: Final = 200  # drawn of a path
# Colour, dash and mark of each: no path is known by its colour alone.
STYLES: Final[Mapping[str, tuple[str, str, str]]] = {
    "SGD": ("axis_6", "solid", "circle"),
    "Momentum": ("axis_2", "solid", "square"),
    "AdaGrad": ("axis_3", "dash", "diamond"),
    "RMSProp": ("axis_4", "dash", "triangle-up"),
    "Adam": ("axis_1", "solid", "cross"),
    "AdamW": ("text", "dot", "x"),
    "Muon": ("axis_5", "dashdot", "star"),
}


def race_picture(surface: Surface, paths: Mapping[str, Path], look: Look) -> Picture:
    """Return the contour lines of a loss with the way that each optimizer took.

    Args:
        surface: The loss.
        paths: Optimizer -> its way.
        look: How the reader wants to see.
    """
    layout, drawing = look.layout(), Drawing()
    _draw_contours(drawing, surface, look)
    for name, path in paths.items():
        _draw_path(drawing, name, path, look)
    drawing.scatter(
        x=[x for x, _y in surface.minima], y=[y for _x, y in surface.minima], mode="markers",
        name=_("minimum"), hovertemplate=_("minimum") + " (%{x}, %{y})<extra></extra>",
        marker={"symbol": "star-open", "size": 18, "color": look.color("text"),
                "line": {"width": 2}},
    )  # fmt: skip
    left, right, bottom, top = surface.window
    still = {"zeroline": False, "showgrid": False}
    fields = {
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": layout["font"]["size"] * 4, "b": 8},
        "xaxis": layout["xaxis"] | still | {"range": [left, right], "title": {"text": "x"}},
        "yaxis": layout["yaxis"] | still | {"range": [bottom, top], "title": {"text": "y"}},
        "meta": surface.formula,
    }
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_sentence(surface, paths),
        table=_table(paths),
    )


def _draw_contours(drawing: Drawing, surface: Surface, look: Look) -> None:
    left, right, bottom, top = surface.window
    xs = [left + (right - left) * i / NUM_CELLS for i in range(NUM_CELLS + 1)]
    ys = [bottom + (top - bottom) * i / NUM_CELLS for i in range(NUM_CELLS + 1)]
    lowest = min(surface.loss(x, y) for x, y in surface.minima)
    # Equal steps of the logarithm: the valleys would be one flat colour otherwise.
    heights = [[round(math.log10(surface.loss(x, y) - lowest + 0.01), 3) for x in xs] for y in ys]
    low, high = min(map(min, heights)), max(map(max, heights))
    drawing.trace(
        "contour", x=xs, y=ys, z=heights, showscale=False, hoverinfo="skip", autocontour=False,
        contours={"start": low, "end": high, "size": (high - low) / NUM_LINES},
        colorscale=[[0, look.color("background")], [1, look.color("surface")]],
        line={"width": 1, "color": look.color("border")},
    )  # fmt: skip


def _draw_path(drawing: Drawing, name: str, path: Path, look: Look) -> None:
    color, dash, symbol = STYLES[name]
    every = max(len(path.points) // MOST_POINTS, 1)
    last = len(path.points) - 1
    steps = [*islice(range(last), 0, None, every), last]
    seen = [step for step in steps if all(map(math.isfinite, path.points[step]))]
    drawing.scatter(
        x=[path.points[step][0] for step in seen], y=[path.points[step][1] for step in seen],
        customdata=seen, mode="lines+markers",
        name=_("{name} (diverges)").format(name=name) if path.diverged else name,
        line={"color": look.color(color), "width": 3 if look.present else 2, "dash": dash},
        marker={"symbol": symbol, "color": look.color(color),
                "size": [4] * (len(seen) - 1) + [12]},
        hovertemplate=name + " · " + _("step %{customdata}") + ": (%{x:.3g}, %{y:.3g})"
        "<extra></extra>",
    )  # fmt: skip


def _sentence(surface: Surface, paths: Mapping[str, Path]) -> str:
    here = _("{name} ends {distance} from the minimum after {steps} steps")
    gone = _("{name} diverges at step {steps}")
    parts = [
        (gone if path.diverged else here).format(
            name=name, distance=f"{path.distance:.3g}", steps=len(path.points) - 1
        )
        for name, path in paths.items()
    ]
    return _("Contour lines of {formula}, from the start {start}: {parts}.").format(
        formula=surface.formula, start=surface.start, parts=_("; ").join(parts)
    )


def _table(paths: Mapping[str, Path]) -> dict[str, Any]:
    return {
        _("optimizer"): list(paths),
        _("steps"): [len(path.points) - 1 for path in paths.values()],
        "x": [float(path.points[-1][0]) for path in paths.values()],
        "y": [float(path.points[-1][1]) for path in paths.values()],
        _("loss"): [path.loss for path in paths.values()],
        _("distance to the minimum"): [path.distance for path in paths.values()],
        _("diverges"): [_("yes") if path.diverged else _("no") for path in paths.values()],
    }
