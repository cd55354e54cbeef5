"""The pieces of a picture, collected first and checked once.

`Figure.add_annotation` checks all earlier annotations again at every call: a dozen of them cost
30 ms, as a list they cost 5 ms.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

Piece = dict[str, Any]


@dataclass(slots=True)
class Drawing:
    """Traces, annotations and shapes of a figure to be."""

    traces: list[Piece] = field(default_factory=list)
    annotations: list[Piece] = field(default_factory=list)
    shapes: list[Piece] = field(default_factory=list)

    def scatter(self, **fields: object) -> None:
        """Add a scatter trace."""
        self.traces.append({"type": "scatter", **fields})

    def bar(self, **fields: object) -> None:
        """Add bars."""
        self.traces.append({"type": "bar", **fields})

    def note(self, **fields: object) -> None:
        """Add words, without an arrow unless `showarrow` asks for one."""
        self.annotations.append({"showarrow": False, **fields})

    def shape(self, **fields: object) -> None:
        """Add a line or a rectangle."""
        self.shapes.append(fields)

    def figure(self, layout: Mapping[str, Any]) -> go.Figure:
        """Return the figure.

        Args:
            layout: Plotly's layout; the collected annotations and shapes are added to it.
        """
        pieces = {"annotations": self.annotations, "shapes": self.shapes}
        return go.Figure(data=self.traces, layout={**layout, **pieces})
