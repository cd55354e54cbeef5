"""What pictures of sizing share: sizes, axes, rows of stacked bars, amounts in words."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from core.figures.picture import Drawing, Look, Table
from core.language import _
from core.units import format_percent

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

HEIGHT_PX: Final = 380
PRESENT_HEIGHT_PX: Final = 320  # so that the numbers below stand on the first screen
ROW_HEIGHT: Final = 2.6  # of the text's size
NAMED_BAR: Final = 0.5  # of a row whose name stands above its bar
Rows = Mapping[str, Mapping[str, float]]  # a translated label -> part, a message id -> its amount
Looks = Mapping[str, tuple[str, str]]  # part -> its colour's meaning and its hatching


def framed(
    drawing: Drawing, look: Look, *, x: Mapping[str, Any], y: Mapping[str, Any], **layout: object
) -> "Figure":
    """Return a picture with two axes on top of the theme's; "title" is a plain translated text."""
    base = look.layout()
    axes = {
        name: base[name] | {"zeroline": False, "fixedrange": True} | dict(fields)
        for name, fields in (("xaxis", x), ("yaxis", y))
    }
    height = PRESENT_HEIGHT_PX if look.present else HEIGHT_PX
    more = {"height": height, "margin": {"l": 8, "r": 16, "t": 40, "b": 8}}
    return drawing.figure({**base, **axes, **more, **layout})


def rows_of_bars(
    drawing: Drawing,
    look: Look,
    *,
    num_rows: int,
    x: Mapping[str, Any],
    y: Mapping[str, Any] | None = None,
    **layout: object,
) -> "Figure":
    """Return lying bars, the first row at the top, a legend above them."""
    base = look.layout()
    rows = {
        "barmode": "stack",
        "bargap": 0.3,
        "height": round((num_rows * ROW_HEIGHT + 5) * base["font"]["size"]),
        "legend": base["legend"] | {"traceorder": "normal"},
    }
    y = {"autorange": "reversed", "showgrid": False, "ticklabelstandoff": 8} | dict(y or {})
    return framed(drawing, look, x=x, y=y, **rows | layout)


def name_above(drawing: Drawing, names: Sequence[str], look: Look) -> dict[str, Any]:
    """Write the name of each row on its bar's upper edge; return the axis of the rows.

    Beside the bars long names would leave them, and the legend's columns, no room. One that reaches
    over the line of a capacity is not to be read as a stroke of it.
    """
    for place, name in enumerate(names):
        edge = place - NAMED_BAR / 2  # the first row is on top: upward numbers fall
        drawing.note(
            x=0, y=edge, xanchor="left", yanchor="bottom", align="left", text=name, borderpad=0,
            bgcolor=look.color("background"),
        )  # fmt: skip
    # The first name needs room below the line's own.
    return {"showticklabels": False, "autorange": False, "range": [len(names) - 0.5, -0.7]}


def lying_bars(
    drawing: Drawing,
    look: Look,
    *,
    room: float,
    height: int,
    top: int,
    right: int = 8,
    **layout: object,
) -> "Figure":
    """Return lying bars on an unseen axis up to `room`; height and margins are in px."""
    place: dict[str, Any] = {"height": height, "margin": {"l": 8, "r": right, "t": top, "b": 8}}
    x = {"visible": False, "range": [0, room]}
    return rows_of_bars(drawing, look, num_rows=0, x=x, **place | layout)


def bare_rows(
    drawing: Drawing,
    look: Look,
    *,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    height: int,
    top: int,
    **layout: object,
) -> "Figure":
    """Return rows on axes without lines, which have these fields on top of the theme's."""
    place: dict[str, Any] = {"height": height, "margin": {"l": 8, "r": 8, "t": top, "b": 8}}
    axes: dict[str, Any] = {"x": {"showgrid": False, **x}, "y": {"showgrid": False, **y}}
    return framed(drawing, look, **axes, **place | layout)


def text_size(look: Look) -> int:
    """Return the size of the text in px, by which pictures measure their rows."""
    return int(look.layout()["font"]["size"])


def hatched(color: str | Sequence[str], shape: str | Sequence[str]) -> dict[str, Any]:
    """Return how bars look: a colour and a hatching over it, for whoever sees no colours."""
    return {"color": color, "pattern": {"shape": shape, "fillmode": "overlay", "solidity": 0.3}}


def stack(
    drawing: Drawing, rows: Rows, looks: Looks, written: Callable[[float], str], look: Look,
    *, whole: float = 0, **fields: object,
) -> None:  # fmt: skip
    """Add a trace for each part that any row has, with its share of the row or of the whole."""
    for part, (meaning, pattern) in looks.items():
        amounts = [parts.get(part, 0) for parts in rows.values()]
        if any(amounts):
            sums = [whole or sum(parts.values()) for parts in rows.values()]
            drawing.bar(
                orientation="h", x=amounts, y=list(rows), name=_(part),
                marker=hatched(look.color(meaning), pattern),
                customdata=[
                    f"{written(amount)} · {format_percent(amount / all_parts)}"
                    for amount, all_parts in zip(amounts, sums, strict=True)
                ],
                hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>", **fields,
            )  # fmt: skip


def stack_table(title: str, rows: Rows, looks: Looks, written: Callable[[float], str]) -> Table:
    """Return a row for each of the bars: its label under the title, each part, the total."""
    columns = {
        _(part): [written(parts.get(part, 0)) for parts in rows.values()]
        for part in looks
        if any(part in parts for parts in rows.values())
    }
    totals = [written(sum(parts.values())) for parts in rows.values()]
    return {title: list(rows), **columns, _("total"): totals}


def written_beside(
    drawing: Drawing, amounts: Mapping[str, float], written: Callable[[float], str], room: float
) -> dict[str, Any]:
    """Write each row's amount beside its bar; return an axis that nobody needs to see any more.

    Args:
        drawing: What the words are added to.
        amounts: Of each row, by its label.
        written: Makes words of an amount.
        room: How long the axis is, in longest bars.
    """
    for label, amount in amounts.items():
        drawing.note(x=amount, y=label, text=f" {written(amount)}", xanchor="left")
    return {"visible": False, "range": [0, room * max(amounts.values())]}


def log_axis(
    ticks: Sequence[float], written: Callable[[Any], str], **fields: object
) -> dict[str, object]:
    """Return an axis in powers of ten with these ticks only."""
    words = [written(tick) for tick in ticks]
    return {"type": "log", "tickvals": list(ticks), "ticktext": words, **fields}


def powers(low: int, high: int) -> list[float]:
    """Return the powers of ten for the ticks of an axis."""
    return [10.0**power for power in range(low, high + 1)]


def scientific(amount: float, digits: int = 3) -> str:
    """Return a large amount as people of the field write it.

    >>> scientific(9.574e21, 4), scientific(33_554_432), scientific(2.5)
    ('9.574e21', '3.36e7', '2.5')
    """
    return f"{amount:.{digits}g}".replace("e+0", "e").replace("e+", "e")


def intensity_words(intensity: float) -> str:
    """Return FLOPs for each byte with three digits or all before the point, no exponent.

    >>> intensity_words(0.01), intensity_words(4.0), intensity_words(295.34), intensity_words(1e8)
    ('0.01', '4', '295', '100,000,000')
    """
    return f"{intensity:,.0f}" if intensity >= 100 else f"{intensity:.3g}"
