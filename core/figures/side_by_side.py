"""Two settings side by side: two bars a row, and beside them the difference and the ratio."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.budget.comparison.side_by_side import Pair
from core.budget.item import Item
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _

MOST_ROWS: Final = {False: 8, True: 4}  # on a projector True; the table has them all
_ROW_HEIGHT: Final = {False: 3.1, True: 2.9}  # of the text's size
_ROOM: Final = {
    False: 1.8,
    True: 2.3,
}  # of the longest bar: its number, difference and ratio stand beside
_BAR: Final = 0.36  # of a row
Written = Callable[[float, str], str]  # an amount and its unit in words


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """What the two sides are called, translated."""

    a: str
    b: str

    def legend(self) -> tuple[str, str]:
        """Return both with their letters."""
        return _("A: {name}").format(name=self.a), _("B: {name}").format(name=self.b)


def ratio_text(ratio: float | None) -> str:
    """Return how many times A's number B's is: "2.5 ×"; "–" where A has none.

    >>> ratio_text(2.5), ratio_text(1234.5), ratio_text(None)
    ('2.5 ×', '1,234 ×', '–')
    """
    if ratio is None:
        return "–"
    return f"{ratio:,.0f} ×" if ratio >= 100 else f"{ratio:.3g} ×"


def signed(difference: float, unit: str, written: Written) -> str:
    """Return a difference with its sign: "+12.0 GiB", "−3 s", "±0"."""
    if not difference:
        return "±0"
    return ("+" if difference > 0 else "−") + written(abs(difference), unit)


def side_by_side_picture(
    pairs: Sequence[Pair], names: Names, written: Written, look: Look
) -> Picture:
    """Return two bars for each row on one axis; rows of another unit have an axis of their own.

    Args:
        pairs: The rows, the most important first.
        names: What the two sides are called.
        written: Makes words of an amount and its unit.
        look: How the reader wants to see.
    """
    shown = pairs[: MOST_ROWS[look.present]]
    drawing, layout = Drawing(), look.layout()
    axes: dict[str, Any] = {}
    for place, unit in enumerate(dict.fromkeys(pair.unit for pair in shown)):
        axis = f"x{place + 1}" if place else "x"
        rows = [(row, pair) for row, pair in enumerate(shown) if pair.unit == unit]
        _draw_bars(drawing, rows, axis, names, written, look)
        reach = _ROOM[look.present] * (max(max(pair.amounts) for _row, pair in rows) or 1)
        bare = {"visible": False, "range": [0, reach], "fixedrange": True}
        axes[axis.replace("x", "xaxis")] = bare | ({"overlaying": "x"} if place else {})
    for row, pair in enumerate(shown):
        text = f"{signed(pair.difference, pair.unit, written)} · <b>{ratio_text(pair.ratio)}</b>"
        drawing.note(xref="paper", x=1, y=row, xanchor="right", text=text)
    size = layout["font"]["size"]
    ticks = {"tickvals": list(range(len(shown))), "ticktext": [pair.name for pair in shown]}
    frame = {
        "yaxis": layout["yaxis"]
        | {"range": [len(shown) - 0.5, -0.5], "showgrid": False, "zeroline": False}
        | {"fixedrange": True, **ticks},
        "height": round((len(shown) * _ROW_HEIGHT[look.present] + 3.4) * size),
        "legend": layout["legend"] | {"traceorder": "normal"},
        "margin": {"l": 8, "r": 8, "t": round(2.6 * size), "b": 8},
        "barmode": "overlay",
        "meta": sorted({pair.unit for pair in shown}),
    }
    return Picture(
        figure=drawing.figure(layout | frame | axes),
        alt=_sentence(shown, names, written),
        table=_table(pairs, names, written),
    )


def _draw_bars(
    drawing: Drawing,
    rows: Sequence[tuple[int, Pair]],
    axis: str,
    names: Names,
    written: Written,
    look: Look,
) -> None:
    """Add A's bars and B's; what a side lacks has no bar and a dash."""
    for side, label in enumerate(names.legend()):
        items = [(pair.a, pair.b)[side] for _row, pair in rows]
        drawing.bar(
            orientation="h",
            xaxis=axis,
            y=[row + (side - 0.5) * _BAR for row, _pair in rows],
            x=[item.amount if item else 0 for item in items],
            width=[_BAR] * len(rows),
            name=label,
            showlegend=axis == "x",
            marker={
                "color": look.color(("side_a", "side_b")[side]),
                "pattern": {"shape": ("", "/")[side]},
            },
            text=[written(item.amount, item.unit) if item else "–" for item in items],
            textposition="outside",
            constraintext="none",
            cliponaxis=False,
            customdata=[_explained(item) for item in items],
            hovertemplate="%{text}<br>%{customdata}<extra>%{fullData.name}</extra>",
        )


def _explained(item: Item | None) -> str:
    """Return the rule of a number with its numbers put in."""
    return f"{item.formula}<br>= {item.substituted}" if item else ""


def _sentence(pairs: Sequence[Pair], names: Names, written: Written) -> str:
    rows = [
        _("{name} {a} and {b} ({ratio})").format(
            name=pair.name,
            a=written(pair.amounts[0], pair.unit),
            b=written(pair.amounts[1], pair.unit),
            ratio=ratio_text(pair.ratio),
        )
        for pair in pairs
    ]
    return _("A is {a}, B is {b}. Of A, of B, and B over A: {rows}.").format(
        a=names.a, b=names.b, rows=_("; ").join(rows)
    )


def _table(pairs: Sequence[Pair], names: Names, written: Written) -> Table:
    """Return one row a pair: both sides and the difference in words, then as they are."""
    title_a, title_b = names.legend()
    return {
        _("compared"): [pair.name for pair in pairs],
        title_a: [written(pair.amounts[0], pair.unit) if pair.a else "–" for pair in pairs],
        title_b: [written(pair.amounts[1], pair.unit) if pair.b else "–" for pair in pairs],
        _("B − A"): [signed(pair.difference, pair.unit, written) for pair in pairs],
        _("B ÷ A"): ["–" if pair.ratio is None else f"{pair.ratio:.6g}" for pair in pairs],
        _("A exactly"): [pair.a.amount if pair.a else None for pair in pairs],
        _("B exactly"): [pair.b.amount if pair.b else None for pair in pairs],
        _("difference exactly"): [pair.difference for pair in pairs],
        _("unit"): [pair.unit for pair in pairs],
    }
