"""How a reader wants to see pictures, what every picture brings with it, and how one is drawn.

A picture holds translated words and is never cached. Plotly is loaded with the first figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from core import units
from core.figures.theme import COLORS, Mode, plotly_layout
from core.units import ByteUnit

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Table = Mapping[str, Sequence[Any]]
Piece = dict[str, Any]

# What Plotly calls the template "none".
_PLAIN: Final = {"data": {"scatter": [{"type": "scatter"}]}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How the reader wants to see: the one argument about it that every picture takes.

    Attributes:
        mode: "light" or "dark".
        present: Larger text and fewer things, for a projector.
        unit: GiB or GB.
    """

    mode: Mode = "light"
    present: bool = False
    unit: ByteUnit = "GiB"

    def color(self, meaning: str) -> str:
        """Return the colour of a meaning, such as "weights", or of the page, such as "muted"."""
        return COLORS[self.mode][meaning]

    def layout(self) -> dict[str, Any]:
        """Return the theme's layout as Plotly takes it."""
        return plotly_layout(self.mode, present=self.present)

    def format_bytes(self, num_bytes: float) -> str:
        """Return bytes in the reader's unit."""
        return units.format_bytes(num_bytes, self.unit)

    def in_unit(self, num_bytes: float) -> float:
        """Return bytes as the number that stands on an axis in the reader's unit."""
        return num_bytes / (units.GIB if self.unit == "GiB" else 1e9)


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """A figure with all that makes it readable by everybody.

    Attributes:
        figure: What is drawn, in the theme's colours.
        alt: A translated sentence about this very picture, with its numbers.
        table: Its numbers: translated column title -> values, as they are or with their
            unit; all columns equally long.
    """

    figure: "Figure"
    alt: str
    table: Table


@dataclass(slots=True)
class Drawing:
    """Traces, annotations and shapes of a figure to be, collected first and checked once.

    `Figure.add_annotation` checks all earlier annotations again at every call: a dozen of them cost
    30 ms, as a list they cost 5 ms.
    """

    traces: list[Piece] = field(default_factory=list)
    annotations: list[Piece] = field(default_factory=list)
    shapes: list[Piece] = field(default_factory=list)

    def trace(self, kind: str, **fields: object) -> None:
        """Add a trace of Plotly's: "scatter", "bar", "heatmap" ..."""
        self.traces.append({"type": kind, **fields})

    def scatter(self, **fields: object) -> None:
        """Add points or lines."""
        self.trace("scatter", **fields)

    def bar(self, **fields: object) -> None:
        """Add bars."""
        self.trace("bar", **fields)

    def note(self, **fields: object) -> None:
        """Add words, without an arrow unless `showarrow` asks for one."""
        self.annotations.append({"showarrow": False, **fields})

    def shape(self, **fields: object) -> None:
        """Add a line or a rectangle."""
        self.shapes.append(fields)

    def figure(self, layout: Mapping[str, Any]) -> "Figure":
        """Return the figure, in which the theme says everything: Plotly's own template is left out.

        Args:
            layout: Plotly's layout; the collected annotations and shapes are added to it.
        """
        import pandas  # noqa: F401, ICN001  plotly trips over one that another thread still loads
        from plotly.graph_objects import Figure

        whole = {name: _spelled_out(value) for name, value in layout.items()}
        whole |= {"annotations": self.annotations} if self.annotations else {}
        whole |= {"shapes": self.shapes} if self.shapes else {}
        # Unchecked it takes half the time, a fifth of a run; the suite checks each that it draws.
        return Figure(data=self.traces, layout={**whole, "template": _PLAIN}, _validate=False)


def _spelled_out(part: Any) -> Any:  # noqa: ANN401  what Plotly takes
    """Return an axis with its title as the browser knows it; anything else as it is."""
    if not isinstance(part, dict) or not {"title", "title_standoff"} & part.keys():
        return part
    axis = {name: value for name, value in part.items() if name != "title_standoff"}
    title = part.get("title", {})
    whole = {"text": title} if isinstance(title, str) else dict(title)
    standoff = {"standoff": part["title_standoff"]} if "title_standoff" in part else {}
    return axis | {"title": standoff | whole}
