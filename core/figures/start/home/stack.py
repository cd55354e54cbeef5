"""The software stack of this machine as a picture: five layers, the calls going down."""

from collections.abc import Sequence
from typing import Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.machine.stack import Layer

HEIGHT_PX: Final = 360
PRESENT_HEIGHT_PX: Final = 440


def stack_figure(
    layers: Sequence[Layer], mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Draw one bar for each layer, the application on top; what is installed stands inside."""
    colors, layout = COLORS[mode], plotly_layout(mode, present=present)
    bars = go.Bar(
        orientation="h",
        y=[_(layer.name) for layer in layers],
        x=[1] * len(layers),
        text=[f"<b>{layer.found}</b><br>{_(layer.duty)}" for layer in layers],
        textposition="inside",
        insidetextanchor="middle",
        textfont={"color": colors["text"], "size": layout["font"]["size"]},
        constraintext="none",
        hoverinfo="skip",
        marker={
            "color": colors["surface"],
            "line": {"color": colors["accent"], "width": 2},
        },
    )
    figure = go.Figure([bars], layout)
    figure.update_layout(
        height=PRESENT_HEIGHT_PX if present else HEIGHT_PX, bargap=0.25, showlegend=False
    )
    figure.update_layout(margin={"l": 10, "r": 10, "t": 10, "b": 10})
    figure.update_xaxes(visible=False, range=[0, 1], fixedrange=True)
    figure.update_yaxes(autorange="reversed", automargin=True, fixedrange=True, showgrid=False)
    for row in range(len(layers) - 1):
        figure.add_annotation(
            x=0.5, y=row + 0.5, text="▼", showarrow=False, font={"color": colors["muted"]}
        )
    return figure


def stack_alt(layers: Sequence[Layer]) -> str:
    """Return the picture as one sentence."""
    parts = [f"{_(layer.name)} ({layer.found})" for layer in layers]
    return _("The layers from the program down to the hardware: {layers}.").format(
        layers=_(", then ").join(parts)
    )
