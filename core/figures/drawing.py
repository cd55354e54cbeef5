"""The pieces of a picture, collected first and checked once.

`Figure.add_annotation` checks all earlier annotations again at every call: a dozen of them cost
30 ms, as a list they cost 5 ms. Plotly is loaded with the first figure, and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Piece = dict[str, Any]


@dataclass(slots=True)
class Drawing:
    """Traces, annotations and shapes of a figure to be."""

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
        """Return the figure, without a template: the theme says everything.

        Args:
            layout: Plotly's layout; the collected annotations and shapes are added to it.
        """
        import pandas  # noqa: F401, ICN001  plotly trips over one that another thread still loads
        from plotly.graph_objects import Figure

        pieces = {"annotations": self.annotations, "shapes": self.shapes, "template": "none"}
        return Figure(data=self.traces, layout={**layout, **pieces})
