"""A ladder of techniques: what was published for each rung, and what our rules give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.figures.budget.stacked_parts import row_axes
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _
from core.units import in_percent

PRESENTED: Final = 5  # rungs that a projector shows at once
_FADED: Final = 0.35
_ROOM: Final = 1.3


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One rung: a translated title, the published bytes, and ours (None where we have none)."""

    title: str
    published: float
    ours: float | None

    @property
    def error(self) -> float | None:
        """Relative error of ours."""
        return None if self.ours is None else self.ours / self.published - 1

    @property
    def most(self) -> float:
        """The larger number of bytes."""
        return max(self.published, self.ours or 0)


Rows = Sequence[LadderRow]


def ladder_picture(rows: Rows, chosen: int, look: Look) -> Picture:
    """Return a bar of ours and a mark of the published figure for each rung; one stands out.

    Args:
        rows: The rungs; a projector has room for those around the chosen one.
        chosen: The place of the one that stands out.
        look: How the reader wants to see.
    """
    count = min(len(rows), PRESENTED) if look.present else len(rows)
    first = min(max(0, chosen - count // 2), len(rows) - count)
    drawn = rows[first : first + count]
    drawing, layout = Drawing(), look.layout()
    size = layout["font"]["size"]
    _draw_both(drawing, drawn, chosen - first, look, size)
    for place, row in enumerate(drawn):
        published = look.format_bytes(row.published)
        text = published if row.error is None else f"{published} ({error_text(row.error)})"
        drawing.note(
            x=row.most,
            y=place,
            text=f"  {text}",
            xanchor="left",
            font={"color": look.color("text" if place == chosen - first else "muted")},
        )
    axes = row_axes(look, _ROOM * max(row.most for row in drawn), [row.title for row in drawn])
    frame = {
        "bargap": 0.35,
        "height": round(len(drawn) * size * 1.75) + 2 * size,
        "margin": {"l": 8, "r": 8, "t": 28, "b": 8},
    }
    figure = drawing.figure(layout | axes | frame)
    return Picture(figure=figure, alt=_sentence(drawn, look), table=_table(rows, look))


def _draw_both(drawing: Drawing, rows: Rows, chosen: int, look: Look, size: int) -> None:
    """Add the bars of ours and the marks of what was published."""
    said = {
        "y": list(range(len(rows))),
        "customdata": [_numbers(row, look) for row in rows],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    drawing.bar(
        **said,
        orientation="h",
        x=[row.ours or 0 for row in rows],
        name=_("ours"),
        marker={
            "color": look.color("estimated"),
            "opacity": [1 if place == chosen else _FADED for place in range(len(rows))],
            "pattern": {"shape": "/"},
        },
    )
    drawing.scatter(
        **said,
        mode="markers",
        x=[row.published for row in rows],
        name=_("published"),
        marker={
            "symbol": "diamond",
            "size": size,
            "color": look.color("measured"),
            "line": {"width": 2, "color": look.color("background")},
        },
    )


def error_text(error: float) -> str:
    """Return a relative error with its sign: "−3.5 %", "±0.0 %"."""
    number = f"{abs(error) * 100:.1f}"
    sign = "±" if number == "0.0" else "+" if error > 0 else "−"
    return in_percent(sign + number)


def _numbers(row: LadderRow, look: Look) -> str:
    published = look.format_bytes(row.published)
    if row.ours is None or row.error is None:
        return published
    return _("{published}, ours {ours} ({error})").format(
        published=published, ours=look.format_bytes(row.ours), error=error_text(row.error)
    )


def _sentence(rows: Rows, look: Look) -> str:
    parts = [f"{row.title}: {_numbers(row, look)}" for row in rows]
    return _("Published peak of each rung, and ours: {parts}.").format(parts=_("; ").join(parts))


def _table(rows: Rows, look: Look) -> Table:
    """Return one row a rung, those too that are not drawn."""
    return {
        _("rung"): [row.title for row in rows],
        _("published"): [look.format_bytes(row.published) for row in rows],
        _("ours"): ["" if row.ours is None else look.format_bytes(row.ours) for row in rows],
        _("error"): ["" if row.error is None else error_text(row.error) for row in rows],
    }
