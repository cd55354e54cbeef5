"""What all charts of the live run share: how they are seen, their frame, their lines and marks.

Every trace says in `meta.role` what belongs into it, and in `meta.label` how its label is
written, so that the browser can fill the same traces while the run goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.figures.picture import Drawing, Look
from core.figures.train.live_run.run_facts import RunView, multiplier_changes
from core.language import _

# The change marks stand on an axis of their own from 0 to 1, so that they stay at the top.
MARK_HEIGHT: Final = 0.97

Points = tuple[Sequence[Any], Sequence[Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveLook:
    """How the reader wants to see the charts of a run.

    Attributes:
        look: As in every picture.
        show_prediction: Draw what was predicted beside what is measured.
    """

    look: Look = field(default_factory=Look)
    show_prediction: bool = True


@dataclass(kw_only=True, slots=True)
class LiveDrawing(Drawing):
    """A chart over the steps of a run.

    Attributes:
        run: What it shows; without a step it is the frame that the browser fills.
        look: How the reader wants to see.
    """

    run: RunView
    look: Look

    @property
    def num_steps(self) -> int:
        """The planned number of steps; 0 before a run exists."""
        return int(self.run.section("config").get("num_steps", 0))

    def line(self, role: str, name: str, color: str, points: Points, **style: Any) -> None:  # noqa: ANN401
        """Add one line; `style` may hold width, dash, opacity, mode and marker."""
        width, dash = style.pop("width", 2), style.pop("dash", "solid")
        x, y = points
        self.scatter(
            x=x,
            y=y,
            name=name,
            line={"color": color, "width": width, "dash": dash},
            **({"mode": "lines"} | style),
            meta={"role": role},
        )

    def reference(self, role: str, label: str, dash: str, value: tuple[float | None, str]) -> None:
        """Add a horizontal line across the run with its label at the right end.

        Args:
            role: What belongs into it.
            label: Translated, with {value} in it.
            dash: Plotly's name of the dash, so that lines differ in more than their label.
            value: The height and how it is written; without a height the line stays empty.
        """
        height, written = value
        known = height is not None
        # To the end of the plan, or to the last step where that is further.
        end = max(self.num_steps, *(int(step) for step in self.run.column("step")), 0)
        self.scatter(
            x=[0, end] if known else [],
            y=[height, height] if known else [],
            text=["", label.format(value=written)] if known else [],
            textposition="bottom left",
            textfont={"color": self.look.color("muted")},
            mode="lines+markers+text",
            marker={"size": 9, "opacity": 0},  # unseen: it keeps the label off the line
            line={"color": self.look.color("reference"), "dash": dash, "width": 1.5},
            meta={"role": role, "label": label},
            showlegend=False,
            hoverinfo="skip",
        )

    def changes(self) -> None:
        """Add a triangle and a vertical line at each step where a new multiplier took effect."""
        rows = multiplier_changes(self.run)
        downwards = {"type": "constant", "symmetric": False, "value": 0, "valueminus": MARK_HEIGHT}
        self.scatter(
            x=[step for step, _multiplier in rows],
            y=[MARK_HEIGHT] * len(rows),
            text=[f"×{multiplier:g}" for _step, multiplier in rows],
            error_y=downwards | {"width": 0, "thickness": 1, "color": self.look.color("muted")},
            mode="markers+text",
            textposition="middle right",
            marker={"symbol": "triangle-down", "size": 10, "color": self.look.color("text")},
            yaxis="y2",
            name=_("learning-rate multiplier"),
            meta={"role": "multiplier"},
            showlegend=False,
            hovertemplate="%{x}: %{text}<extra></extra>",
        )

    def layout(self, name: str, title: str, **of_y: object) -> dict[str, Any]:
        """Return axes, the hidden axis of the marks, and the look.

        `uirevision` is a constant, so that a reader's zoom survives every redraw.

        Args:
            name: Of the chart, for the browser.
            title: Of the vertical axis, translated.
            of_y: Other fields of this axis.
        """
        base, plain = self.look.layout(), {"zeroline": False}
        x = {
            "title": {"text": _("step")},
            "rangemode": "tozero",
            "autorangeoptions": {"include": [0, self.num_steps]},
        }
        y = {"title": {"text": title}, "type": "linear", "exponentformat": "power"}
        return base | {
            "margin": base["margin"] | {"t": 40 if name == "loss" else 28},
            "uirevision": name,
            "meta": {"name": name},
            "xaxis": base["xaxis"] | plain | x,
            "yaxis": base["yaxis"] | plain | y | of_y,
            "yaxis2": {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True},
            "hovermode": "closest",
        }
