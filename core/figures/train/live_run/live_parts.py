"""What all charts of the live run share: their look, their frame, their lines and marks.

Every trace says in `meta.role` what belongs into it, and in `meta.label` how its label is
written, so that the browser can fill the same traces while the run goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.figures.theme import COLORS, Mode, plotly_layout
from core.figures.train.live_run.run_facts import RunView, multiplier_changes
from core.language import _
from core.units import ByteUnit

# The change marks stand on an axis of their own from 0 to 1, so that they stay at the top.
MARK_HEIGHT = 0.97

Points = tuple[Sequence[Any], Sequence[Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How the reader wants to see the charts.

    Attributes:
        mode: "light" or "dark".
        present: Larger text, for a projector.
        unit: GiB or GB.
        show_prediction: Draw what was predicted beside what is measured.
    """

    mode: Mode = "light"
    present: bool = False
    unit: ByteUnit = "GiB"
    show_prediction: bool = True

    def color(self, token: str) -> str:
        """Return the colour of a meaning."""
        return COLORS[self.mode][token]


def frame(look: Look, name: str, title: str, run: RunView, scale: str = "linear") -> dict[str, Any]:
    """Return the layout of one chart over steps: axes, the hidden axis of the marks, the look.

    `uirevision` is a constant, so that a reader's zoom survives every redraw.
    """
    base = plotly_layout(look.mode, present=look.present)
    return base | {
        "template": "none",
        "margin": base["margin"] | {"t": 40 if name == "loss" else 28},
        "uirevision": name,
        "meta": {"name": name},
        "xaxis": base["xaxis"]
        | {
            "title": {"text": _("step")},
            "rangemode": "tozero",
            "autorangeoptions": {"include": [0, num_steps(run)]},
            "zeroline": False,
        },
        "yaxis": base["yaxis"]
        | {
            "title": {"text": title},
            "type": scale,
            "exponentformat": "power",
            "zeroline": False,
        },
        "yaxis2": {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True},
        "hovermode": "closest",
    }


def line(role: str, name: str, color: str, points: Points, **style: Any) -> go.Scatter:  # noqa: ANN401
    """Return one line; `style` may hold width, dash, opacity, mode and marker."""
    stroke = {"color": color, "width": style.pop("width", 2), "dash": style.pop("dash", "solid")}
    x, y = points
    return go.Scatter(
        x=x, y=y, name=name, line=stroke, **({"mode": "lines"} | style), meta={"role": role}
    )


def reference(
    look: Look, run: RunView, label: tuple[str, str], dash: str, value: tuple[float | None, str]
) -> go.Scatter:
    """Return a horizontal line across the run with its label at the right end.

    Args:
        look: Colours.
        run: Gives the length of the line.
        label: The role, and the translated label with {value} in it.
        dash: Plotly's name of the dash, so that lines differ in more than their label.
        value: The height and how it is written; without a height the line stays empty.
    """
    role, template = label
    height, written = value
    known = height is not None
    return go.Scatter(
        x=[0, end(run)] if known else [],
        y=[height, height] if known else [],
        text=["", template.format(value=written)] if known else [],
        textposition="bottom left",
        textfont={"color": look.color("muted")},
        mode="lines+markers+text",
        marker={"size": 9, "opacity": 0},  # unseen: it keeps the label off the line
        line={"color": look.color("reference"), "dash": dash, "width": 1.5},
        meta={"role": role, "label": template},
        showlegend=False,
        hoverinfo="skip",
    )


def changes(look: Look, run: RunView) -> go.Scatter:
    """Return a triangle and a vertical line at each step where a new multiplier took effect."""
    rows = multiplier_changes(run)
    downwards = {"type": "constant", "symmetric": False, "value": 0, "valueminus": MARK_HEIGHT}
    return go.Scatter(
        x=[step for step, _multiplier in rows],
        y=[MARK_HEIGHT] * len(rows),
        text=[f"×{multiplier:g}" for _step, multiplier in rows],
        error_y=downwards | {"width": 0, "thickness": 1, "color": look.color("muted")},
        mode="markers+text",
        textposition="middle right",
        marker={"symbol": "triangle-down", "size": 10, "color": look.color("text")},
        yaxis="y2",
        name=_("learning-rate multiplier"),
        meta={"role": "multiplier"},
        showlegend=False,
        hovertemplate="%{x}: %{text}<extra></extra>",
    )


def num_steps(run: RunView) -> int:
    """Return the planned number of steps; 0 before a run exists."""
    return int(run.section("config").get("num_steps", 0))


def end(run: RunView) -> int:
    """Return the right end of the step axis: the plan, or the last step where that is further."""
    steps = (int(step) for step in run.column("step"))
    return max(num_steps(run), *steps, 0)
