"""What all charts of the live run share: how they are seen, their frame, their lines and marks.

Every trace says in `meta.role` what belongs into it, and in `meta.label` how its label is
written, so that the browser can fill the same traces while the run goes on.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.figures.picture import Drawing, Look
from core.figures.train.live_run.run_facts import RunView, multiplier_changes
from core.language import _

# The change marks stand on an axis of their own from 0 to 1, so that they stay at the top. A mark
# goes one row down where its label would be printed over another's; behind the last row the label
# is left to the hover.
MARK_HEIGHTS: Final = (0.93, 0.81, 0.69, 0.57)
MARK_ROOM: Final = 0.2  # of the horizontal axis, for a mark and its label

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


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a change mark stands.

    Attributes:
        height: On the axis of the marks, from 0 to 1.
        side: Of the mark on which its label is written, "right" or "left".
        has_label: Whether there is room for the label.
    """

    height: float
    side: str
    has_label: bool


def place_marks(steps: Sequence[int], end: int) -> list[Mark]:
    """Return a mark for each step, rising, so that no label is printed over another."""
    marks: list[Mark] = []
    taken = [-math.inf] * len(MARK_HEIGHTS)  # up to where each row is written on
    room = MARK_ROOM * end
    for step in steps:
        leftwards = step > end - room  # to the right of it the chart ends
        begin = step - room if leftwards else step
        free = [row for row, until in enumerate(taken) if until <= begin]
        row = free[0] if free else taken.index(min(taken))
        marks.append(Mark(MARK_HEIGHTS[row], "left" if leftwards else "right", bool(free)))
        taken[row] = max(taken[row], begin + room)
    return marks


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

    @property
    def end(self) -> int:
        """The end of the plan, or the last step where that is further."""
        return max(self.num_steps, *(int(step) for step in self.run.column("step")), 0)

    def reference(
        self, role: str, label: str, dash: str, value: tuple[float | None, str], at: float = 1.0
    ) -> None:
        """Add a horizontal line across the run with its label at the right end.

        Args:
            role: What belongs into it.
            label: Translated, with {value} in it.
            dash: Plotly's name of the dash, so that lines differ in more than their label.
            value: The height and how it is written; without a height the line stays empty.
            at: Where the label ends, as a share of the line: labels of lines that may come close
                to each other have stretches of their own.
        """
        height, written = value
        known = height is not None
        places = [0, self.end] if at == 1 else [0, at * self.end, self.end]
        self.scatter(
            x=places if known else [],
            y=[height for _place in places] if known else [],
            text=["", label.format(value=written), ""][: len(places)] if known else [],
            textposition="bottom left",
            textfont={"color": self.look.color("muted")},
            mode="lines+markers+text",
            marker={"size": 9, "opacity": 0},  # unseen: it keeps the label off the line
            line={"color": self.look.color("reference"), "dash": dash, "width": 1.5},
            meta={"role": role, "label": label, "at": at},
            showlegend=False,
            hoverinfo="skip",
        )

    def changes(self) -> None:
        """Add a triangle and a vertical line at each step where a new multiplier took effect."""
        changes = multiplier_changes(self.run)
        labels = [f"×{multiplier:g}" for _step, multiplier in changes]
        marks = place_marks([step for step, _multiplier in changes], self.end)
        heights = [mark.height for mark in marks]
        downwards = {
            "type": "data",
            "symmetric": False,
            "array": [0] * len(marks),
            "arrayminus": heights,
        }
        self.scatter(
            x=[step for step, _multiplier in changes],
            y=heights,
            text=[
                label if mark.has_label else "" for label, mark in zip(labels, marks, strict=True)
            ],
            customdata=labels,
            error_y=downwards | {"width": 0, "thickness": 1, "color": self.look.color("muted")},
            mode="markers+text",
            textposition=[f"middle {mark.side}" for mark in marks],
            marker={"symbol": "triangle-down", "size": 10, "color": self.look.color("text")},
            yaxis="y2",
            name=_("learning-rate multiplier"),
            meta={"role": "multiplier"},
            showlegend=False,
            hovertemplate="%{x}: %{customdata}<extra></extra>",
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
