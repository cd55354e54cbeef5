"""What the pictures of the labs share: frame, axes, lines, bars, and which points are drawn."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtypes.number_formats.table import FORMATS
from core.figures.dtypes.written import number, short
from core.figures.picture import Drawing, Look
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


@dataclass(kw_only=True, slots=True)
class LabDrawing(Drawing):
    """A picture of a lab, and how the reader wants to see it."""

    look: Look

    def line(
        self,
        x: Sequence[float] | npt.NDArray[Any],
        y: Sequence[float] | npt.NDArray[Any],
        name: str,
        meaning: str,
        *,
        dash: str = "solid",
        width: float = LINE_PX,
    ) -> None:
        """Add a line in the colour of a meaning; numbers that are not finite leave a gap."""
        self.scatter(
            x=list(x),
            y=[value if math.isfinite(value) else None for value in y],
            name=name,
            mode="lines",
            line={"color": self.look.color(meaning), "dash": dash, "width": width},
            hovertemplate="%{x:,}: %{y:.6g}<extra>%{fullData.name}</extra>",
        )

    def truth(self, x: Sequence[float] | npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
        """Add what would be without any rounding."""
        self.line(x, y, _("exact"), "reference", dash="longdash")

    def ceiling(self, x: Sequence[Any], fmt_name: str, *, width: int, **axes: str) -> None:
        """Add the largest number of a format as a line over `x`."""
        most = FORMATS[fmt_name].max
        self.scatter(
            x=x,
            y=[most] * len(x),
            name=_("largest {format}: {max}").format(format=short(fmt_name), max=number(most, 3)),
            mode="lines",
            line={"color": self.look.color("overflow"), "width": width, "dash": "dash"},
            hoverinfo="skip",
            **axes,
        )

    def layout(self, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
        """Return the theme's layout with these axes on top; their "title" is a plain text."""
        layout = self.look.layout()
        axes = {
            name: layout[name] | {"zeroline": False} | fields | {"title": {"text": fields["title"]}}
            for name, fields in (("xaxis", x), ("yaxis", y))
        }
        height = PRESENT_HEIGHT_PX if self.look.present else HEIGHT_PX
        return layout | axes | {"height": height, "margin": {"l": 8, "r": 16, "t": 40, "b": 8}}


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
