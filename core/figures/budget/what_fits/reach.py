"""How many sequences of which length fit: one line for each number of devices."""

from collections.abc import Sequence
from typing import Any, Final

from core.budget.fits.solve import Edge, by_length
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _, ngettext

_LOOKS: Final = (
    ("format_a", "solid", "circle"),
    ("format_b", "dash", "square"),
    ("format_c", "dot", "diamond"),
    ("format_d", "dashdot", "cross"),
)


def reach_picture(edges: Sequence[Edge], here: tuple[int, int], many: str, look: Look) -> Picture:
    """Return lines below which everything fits, and the chosen point.

    Args:
        edges: One line each; of more than four the rest repeats the looks of the first.
        here: Tokens of a sequence and sequences at once as they are chosen.
        many: What the number of sequences at once is called, translated.
        look: How the reader wants to see.
    """
    layout, drawing = look.layout(), Drawing()
    for edge, (meaning, dash, symbol) in zip(edges, _LOOKS * len(edges), strict=False):
        points = by_length(edge)
        drawing.scatter(
            x=list(points),
            y=list(points.values()),
            mode="lines+markers",
            name=_devices(edge.num_devices),
            line={"color": look.color(meaning), "dash": dash, "width": 3},
            marker={"symbol": symbol, "size": 9},
            hovertemplate="%{x:,} × %{y:,}<extra>%{fullData.name}</extra>",
        )
    drawing.scatter(
        x=[here[0]],
        y=[here[1]],
        mode="markers",
        name=_("chosen"),
        marker={"symbol": "x", "size": 14, "color": look.color("text")},
        hovertemplate="%{x:,} × %{y:,}<extra></extra>",
    )
    size = layout["font"]["size"]
    axes = {
        "xaxis": layout["xaxis"] | _log(_("Sequence length"), edges, here[0]),
        "yaxis": layout["yaxis"] | {"type": "log", "title": many, "dtick": 1},
        "height": (18 if look.present else 24) * size,
        "margin": {"l": 8, "r": 8, "t": 2 * size, "b": 8},
    }
    figure = drawing.figure(layout | axes)
    parts = [_in_words(edge) for edge in edges]
    chosen = _("Chosen: {sequences} × {tokens} tokens.").format(
        sequences=f"{here[1]:,}", tokens=f"{here[0]:,}"
    )
    alt = _("; ").join(parts) + ". " + chosen
    return Picture(figure=figure, alt=alt, table=_table(edges))


def _log(title: str, edges: Sequence[Edge], here: int) -> dict[str, Any]:
    places = sorted({here, *(tokens for edge in edges for tokens in edge.tokens)})
    return {
        "type": "log",
        "title": title,
        "tickvals": places,
        "ticktext": [_short(place) for place in places],
        "tickangle": 0,
    }


def _short(tokens: int) -> str:
    return f"{tokens // 1024}k" if tokens >= 1024 and tokens % 1024 == 0 else str(tokens)


def _devices(number: int) -> str:
    return ngettext("{count} device", "{count} devices", number).format(count=f"{number:,}")


def _in_words(edge: Edge) -> str:
    points = by_length(edge)
    name = _devices(edge.num_devices)
    if not points:
        words = (
            _("{devices}: perhaps nothing fits") if edge.is_guess else _("{devices}: nothing fits")
        )
        return words.format(devices=name)
    first, last = min(points), max(points)
    return _("{devices}: {many} sequences of {short} tokens to {few} of {long}").format(
        devices=name,
        many=f"{points[first]:,}",
        short=f"{first:,}",
        few=f"{points[last]:,}",
        long=f"{last:,}",
    )


def _table(edges: Sequence[Edge]) -> Table:
    """Return one row a length, one column a number of devices."""
    tokens = edges[0].tokens if edges else ()
    columns = {_devices(edge.num_devices): list(edge.sequences) for edge in edges}
    return {_("Sequence length"): list(tokens), **columns}
