"""What changed between two budgets: a waterfall from the first total to the second."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.budget.item import Number
from core.figures.budget.stacked_parts import row_axes
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _

MOST_RUNGS: Final = {False: 7, True: 4}  # on a projector True
_ROW_HEIGHT: Final = {False: 1.7, True: 1.45}  # of the text's size
_ROOM: Final = 1.22  # of the longest bar: its number stands beside it


@dataclass(frozen=True, slots=True)
class Rung:
    """One change: a translated label, how many bytes it adds, and why in a translated sentence."""

    label: str
    change: Number
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """Where it starts, what changes, where it ends; the changes add up to the difference.

    Attributes:
        first: What the first setting is called: a letter.
        last: What the last one is called.
        start: The bytes of the first one.
        rungs: The changes in their order.
        settings: Sentences that say in words what the two settings are.
    """

    first: str
    last: str
    start: Number
    rungs: Sequence[Rung]
    settings: Sequence[str] = ()

    @property
    def end(self) -> Number:
        """The bytes at the end."""
        return self.start + sum(rung.change for rung in self.rungs)

    @property
    def labels(self) -> list[str]:
        """What stands beside the bars."""
        return [self.first, *(rung.label for rung in self.rungs), self.last]

    @property
    def spans(self) -> list[tuple[Number, Number]]:
        """Where each bar begins and ends: the first total, the changes, the last total."""
        spans: list[tuple[Number, Number]] = [(0, self.start)]
        here = self.start
        for rung in self.rungs:
            spans.append((here, here + rung.change))
            here += rung.change
        return [*spans, (0, here)]

    def shortened(self, most: int) -> "Way":
        """Return the way with its largest changes in their order, the small ones together."""
        large = sorted(self.rungs, key=lambda rung: -abs(rung.change))[:most]
        kept = [rung for rung in self.rungs if rung in large]
        rest = sum(rung.change for rung in self.rungs if rung not in large)
        return replace(self, rungs=[*kept, Rung(_("the rest"), rest)] if rest else kept)


def signed(num_bytes: float, look: Look) -> str:
    """Return a change with its sign: "+1.50 GiB", "−2.00 GiB"."""
    if not num_bytes:
        return "±0"
    return ("+" if num_bytes > 0 else "−") + look.format_bytes(abs(num_bytes))


def waterfall_picture(way: Way, look: Look) -> Picture:
    """Return one row for each total and each change, from top to bottom."""
    drawing, layout, spans = Drawing(), look.layout(), way.spans
    _draw_bars(drawing, way, look)
    color = look.color("muted")
    for row, (_begin, end) in enumerate(spans[:-1]):
        drawing.shape(
            type="line",
            x0=end,
            x1=end,
            y0=row - 0.35,
            y1=row + 1.35,
            line={"color": color, "width": 1, "dash": "dot"},
        )
    size = layout["font"]["size"]
    axes = row_axes(look, _ROOM * (max(map(max, spans)) or 1), way.labels)
    frame = {
        "height": round((len(spans) + 1) * size * _ROW_HEIGHT[look.present]),
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "showlegend": False,
        "bargap": 0.3,
        "barmode": "overlay",
    }
    figure = drawing.figure(layout | axes | frame)
    return Picture(figure=figure, alt=_sentence(way, look), table=_table(way, look))


def _draw_bars(drawing: Drawing, way: Way, look: Look) -> None:
    spans, changes = way.spans, [rung.change for rung in way.rungs]
    drawing.bar(
        orientation="h",
        y=list(range(len(spans))),
        base=[min(span) for span in spans],
        x=[max(span) - min(span) for span in spans],
        marker={
            "color": [
                look.color("other"),
                *(look.color("grew" if change > 0 else "shrank") for change in changes),
                look.color("other"),
            ],
            "pattern": {"shape": ["", *("" if change > 0 else "/" for change in changes), ""]},
        },
        text=[
            look.format_bytes(way.start),
            *(signed(change, look) for change in changes),
            look.format_bytes(way.end),
        ],
        textposition="outside",
        constraintext="none",
        cliponaxis=False,
        customdata=["", *(rung.why for rung in way.rungs), ""],
        hovertemplate="%{text}<br>%{customdata}<extra></extra>",
    )


def _sentence(way: Way, look: Look) -> str:
    steps = [f"{rung.label} {signed(rung.change, look)}" for rung in way.rungs]
    changes = _("From {first}, {start}, to {last}, {end}: {steps}.").format(
        first=way.first,
        start=look.format_bytes(way.start),
        last=way.last,
        end=look.format_bytes(way.end),
        steps=_(", ").join(steps) or _("nothing changes"),
    )
    return " ".join([changes, *way.settings])


def _table(way: Way, look: Look) -> Table:
    """Return one row for each bar: what it is, how much it changes, what is reached, and why."""
    return {
        _("step"): way.labels,
        _("change"): ["", *(signed(rung.change, look) for rung in way.rungs), ""],
        _("reached"): [look.format_bytes(end) for _begin, end in way.spans],
        _("why"): ["", *(rung.why for rung in way.rungs), ""],
    }
