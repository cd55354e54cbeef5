"""The software stack of this machine as a picture: five layers, the calls going down."""

from collections.abc import Sequence
from typing import Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.machine.stack import Layer

HEIGHT_PX: Final = 360
PRESENT_HEIGHT_PX: Final = 440


def stack_picture(layers: Sequence[Layer], look: Look) -> Picture:
    """Return one bar for each layer, the application on top; what is installed stands inside."""
    layout, drawing = look.layout(), Drawing()
    drawing.bar(
        orientation="h",
        y=[_(layer.name) for layer in layers],
        x=[1] * len(layers),
        text=[f"<b>{layer.found}</b><br>{_(layer.duty)}" for layer in layers],
        textposition="inside",
        insidetextanchor="middle",
        textfont={"color": look.color("text"), "size": layout["font"]["size"]},
        constraintext="none",
        hoverinfo="skip",
        marker={
            "color": look.color("surface"),
            "line": {"color": look.color("accent"), "width": 2},
        },
    )
    for row in range(len(layers) - 1):
        drawing.note(x=0.5, y=row + 0.5, text="▼", font={"color": look.color("muted")})
    fixed = {"automargin": True, "fixedrange": True}
    axes = {
        "xaxis": layout["xaxis"] | fixed | {"visible": False, "range": [0, 1]},
        "yaxis": layout["yaxis"] | fixed | {"autorange": "reversed", "showgrid": False},
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
    }
    figure = drawing.figure(layout | axes | {"bargap": 0.25, "showlegend": False})
    parts = [
        _("{name} ({found})").format(name=_(layer.name), found=layer.found) for layer in layers
    ]
    alt = _("The layers from the program down to the hardware: {layers}.").format(
        layers=_(", then ").join(parts)
    )
    table = {
        _("layer"): [_(layer.name) for layer in layers],
        _("what it does"): [_(layer.duty) for layer in layers],
        _("on this machine"): [layer.found for layer in layers],
    }
    return Picture(figure=figure, alt=alt, table=table)
