"""What the pictures of the low-precision labs share: frame, axes, lines, written numbers."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

HEIGHT_PX: Final = 370
PRESENT_HEIGHT_PX: Final = 400
MAX_POINTS: Final = 240  # of one line; more cannot be seen
MAX_ROWS: Final = 20  # of a table twin: it is drawn at every move of a slider
LINE_PX: Final = 3
# Colour, dash and mark of each line: whoever sees no colours still tells them apart.
STYLES: Final = (
    ("format_a", "solid", "circle"),
    ("format_b", "dash", "square"),
    ("format_c", "dot", "diamond"),
    ("format_d", "dashdot", "triangle-up"),
)


def lab_figure(
    traces: Iterable[Any], mode: Mode, *, present: bool, x: dict[str, Any], y: dict[str, Any]
) -> go.Figure:
    """Return a figure in the theme with these axes on top of the theme's own.

    Args:
        traces: What it shows.
        mode: "light" or "dark".
        present: Larger text for a projector.
        x: Fields of the horizontal axis; "title" is a plain translated text.
        y: Fields of the vertical axis.
    """
    base = plotly_layout(mode, present=present)
    axes = {
        name: base[name] | {"zeroline": False} | fields | {"title": {"text": fields["title"]}}
        for name, fields in (("xaxis", x), ("yaxis", y))
    }
    # A plain dict: plotly checks every field of a Layout, which costs more than drawing it.
    layout = base | axes | {"height": PRESENT_HEIGHT_PX if present else HEIGHT_PX}
    layout |= {"template": "none", "margin": {"l": 8, "r": 16, "t": 40, "b": 8}}
    return go.Figure(data=list(traces), layout=layout)


def line(  # noqa: PLR0913  a line has a place, a name and a look
    x: Sequence[float] | npt.NDArray[Any],
    y: Sequence[float] | npt.NDArray[Any],
    name: str,
    mode: Mode,
    color: str,
    *,
    dash: str = "solid",
    width: float = LINE_PX,
) -> go.Scatter:
    """Return a line; numbers that are not finite leave a gap."""
    return go.Scatter(
        x=list(x),
        y=[value if math.isfinite(value) else None for value in y],
        name=name,
        mode="lines",
        line={"color": COLORS[mode][color], "dash": dash, "width": width},
        hovertemplate="%{x:,}: %{y:.6g}<extra>%{fullData.name}</extra>",
    )


def hatched(shape: str | Sequence[str]) -> dict[str, Any]:
    """Return a hatching over the colour of a bar, for whoever sees no colours."""
    return {"shape": shape, "fillmode": "overlay", "solidity": 0.25}


def some(count: int, most: int = MAX_POINTS, always: Iterable[int] = ()) -> list[int]:
    """Return the places of at most about `most` of `count` points: the first, the last, `always`.

    >>> some(10, 4, [5])
    [0, 3, 5, 6, 9]
    """
    even = np.linspace(0, count - 1, min(count, most)).round().astype(int)
    return sorted({int(place) for place in (*even, *always) if 0 <= place < count})


def number(value: float, digits: int = 6) -> str:
    """Return a number as people write it; specials in words of the field.

    >>> number(131072.0), number(1e-8), number(float("inf")), number(0.1 + 0.2)
    ('131,072', '1e-08', 'inf', '0.3')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.{digits}g}"


def percent(share: float) -> str:
    """Return a share as a percentage; what is almost none or almost all does not look like it.

    >>> percent(0.0237), percent(0.00001), percent(0.99999), percent(1.0)
    ('2.37 %', '< 0.01 %', '> 99.99 %', '100 %')
    """
    if 0 < share < 1e-4:
        return "< 0.01 %"
    if 1 - 1e-4 < share < 1:
        return "> 99.99 %"
    return f"{100 * share:.3g} %"


def short(name: str) -> str:
    """Return a format's name as it stands beside a line.

    >>> short("float8_e4m3fn"), short("bfloat16"), short("int8")
    ('E4M3', 'BF16', 'INT8')
    """
    if name.startswith("float") and "_" in name:
        return name.rpartition("_")[2].removesuffix("fn").upper()
    return name.upper().replace("BFLOAT", "BF").replace("FLOAT", "FP")


def note(x: float, y: float, text: str, mode: Mode, **place: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a text with an arrow to a point, on a ground that covers lines behind it."""
    colors = COLORS[mode]
    return {
        "x": x,
        "y": y,
        "text": text,
        "showarrow": True,
        "arrowcolor": colors["text"],
        "arrowwidth": 2,
        "bgcolor": colors["background"],
        **place,
    }


def exact_name() -> str:
    """Return what the line without any rounding is called."""
    return _("without rounding")
