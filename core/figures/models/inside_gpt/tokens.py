"""Tokens and embeddings: ids in several tokenizers, a row and its place, cosines, rotations."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.models.lookup import Cosines, Looked, Turned
from core.train.text.token_spans import Span

HEIGHT_PX = 360
_NUM_BINS = 60


def ids_picture(rows: Mapping[str, Sequence[Span]], look: Look) -> Picture:
    """Return the tokens of one text as boxes, a row a tokenizer; as wide as what they stand for.

    Args:
        rows: Translated name -> tokens.
        look: How the reader wants to see.
    """
    drawing, names = Drawing(), list(rows)
    for number, spans in enumerate(rows.values()):
        fills = [look.color("surface"), look.color("background")]
        for place, span in enumerate(spans):
            drawing.shape(
                type="rect", x0=span.start, x1=span.end, y0=number - 0.38, y1=number + 0.38,
                fillcolor=fills[place % 2], line={"color": look.color("border"), "width": 1},
                layer="below",
            )  # fmt: skip
        drawing.scatter(
            x=[(span.start + span.end) / 2 for span in spans], y=[number] * len(spans),
            text=[f"<b>{span.sign}</b><br>{span.id}" for span in spans], mode="text",
            textfont={"size": look.layout()["font"]["size"] - 3 * (not look.present)},
            hovertemplate="%{text}<extra></extra>", showlegend=False,
        )  # fmt: skip
    axis = look.layout()["yaxis"]
    layout = {
        "height": HEIGHT_PX, "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "xaxis": {"visible": False},
        "yaxis": axis | {
            "tickvals": list(range(len(names))), "ticktext": names, "showgrid": False,
            "zeroline": False, "range": [len(names) - 0.5, -0.5],
        },
    }  # fmt: skip
    counts = [f"{name}: {len(spans)}" for name, spans in rows.items()]
    return Picture(
        figure=drawing.figure(look.layout() | layout),
        alt=_("The same text as tokens. {counts}.").format(counts=_(", ").join(counts)),
        table=_ids_table(rows),
    )


def _ids_table(rows: Mapping[str, Sequence[Span]]) -> dict[str, list[object]]:
    flat = [(name, span) for name, spans in rows.items() for span in spans]
    return {
        _("tokenizer"): [name for name, _span in flat],
        _("token"): [span.sign for _name, span in flat],
        _("id"): [span.id for _name, span in flat],
    }


def rows_picture(looked: Looked, names: Sequence[str], look: Look) -> Picture:
    """Return the token's row, the position's row and their sum as three strips of colour.

    Args:
        looked: The rows.
        names: What the three are called, from top to bottom.
        look: How the reader wants to see.
    """
    values = np.stack([looked.token, looked.position, looked.total])
    most = float(np.abs(values).max()) or 1.0
    drawing = Drawing()
    drawing.trace(
        "heatmap", z=values.tolist(), y=list(names), zmin=-most, zmax=most, xgap=1, ygap=8,
        colorscale=[
            [0, look.color("candidate_high")], [0.5, look.color("background")],
            [1, look.color("candidate_low")],
        ],
        colorbar={"thickness": 12}, hovertemplate="%{x}: %{z:.4f}<extra>%{y}</extra>",
    )  # fmt: skip
    layout, plain = look.layout(), {"showgrid": False, "zeroline": False}
    axes = {
        "xaxis": layout["xaxis"] | plain | {"title": {"text": _("channel")}},
        "yaxis": layout["yaxis"] | plain | {"autorange": "reversed"},
        "height": HEIGHT_PX, "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }  # fmt: skip
    said = _("{token} plus {place} makes {total}: the first channel {a} + {b} = {c}.")
    first = values[:, 0].tolist()
    return Picture(
        figure=drawing.figure(layout | axes),
        alt=said.format(
            token=names[0], place=names[1], total=names[2],
            a=f"{first[0]:.4f}", b=f"{first[1]:.4f}", c=f"{first[2]:.4f}",
        ),
        table={_("channel"): list(range(values.shape[1]))}
        | {name: row.tolist() for name, row in zip(names, values, strict=True)},
    )  # fmt: skip


def cosines_picture(found: Cosines, look: Look) -> Picture:
    """Return how often each cosine occurs, and the bell curve of random rows."""
    counts, edges = np.histogram(found.values, bins=_NUM_BINS, density=True)
    middles = ((edges[1:] + edges[:-1]) / 2).tolist()
    scale = found.expected_std * math.sqrt(2 * math.pi)
    bell = [math.exp(-((x / found.expected_std) ** 2) / 2) / scale for x in middles]
    drawing = Drawing()
    drawing.bar(
        x=middles, y=counts.tolist(), name=_("pairs of rows"),
        marker={"color": look.color("embedding")},
        hovertemplate="%{x:.3f}: %{y:.3g}<extra></extra>",
    )  # fmt: skip
    drawing.scatter(
        x=middles, y=bell, mode="lines", name=f"N(0, 1/{found.width})",
        line={"color": look.color("text"), "width": 3, "dash": "dash"}, hoverinfo="skip",
    )  # fmt: skip
    layout = look.layout()
    axes = {
        "xaxis": layout["xaxis"] | {"title": {"text": _("cosine of two rows")}},
        "yaxis": layout["yaxis"] | {"title": {"text": _("density")}},
        "height": HEIGHT_PX, "bargap": 0,
        "margin": {"l": 8, "r": 8, "t": layout["font"]["size"] * 2.6, "b": 8},
    }  # fmt: skip
    said = _(
        "{count} cosines with mean {mean} and standard deviation {std}; random rows have {own}."
    )
    return Picture(
        figure=drawing.figure(layout | axes),
        alt=said.format(
            count=len(found.values), mean=f"{found.mean:.3f}", std=f"{found.std:.4f}",
            own=f"{found.expected_std:.4f}",
        ),
        table={_("cosine"): middles, _("density"): counts.tolist(), f"N(0, 1/{found.width})": bell},
    )  # fmt: skip


def turn_picture(turned: Turned, position: int, look: Look) -> Picture:
    """Return each pair of channels as the hand of a clock, turned by its position."""
    drawing, layout = Drawing(), look.layout()
    for number, (x, y) in enumerate(turned.pairs.tolist()):
        middle = 2.4 * number
        drawing.shape(
            type="circle", x0=middle - 1, x1=middle + 1, y0=-1, y1=1,
            line={"color": look.color("border"), "width": 2},
        )  # fmt: skip
        drawing.scatter(
            x=[middle, middle + x], y=[0, y], mode="lines+markers", showlegend=False,
            line={"color": look.color("attention"), "width": 4}, marker={"size": [1, 11]},
            hovertemplate=f"{turned.angles[number]:.4g} rad<extra></extra>",
        )  # fmt: skip
        drawing.note(x=middle, y=-1.5, text=f"{number}, {number + len(turned.pairs)}")
        drawing.note(x=middle, y=1.45, text=f"{turned.angles[number]:.3g} rad")
    hidden = {"visible": False}
    axes = {
        "xaxis": hidden, "yaxis": hidden | {"scaleanchor": "x", "range": [-1.9, 1.8]},
        "height": HEIGHT_PX, "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }  # fmt: skip
    said = _(
        "At position {position} the first pair is turned by {first} radians, the last by {last}."
    )
    angles = turned.angles.tolist()
    return Picture(
        figure=drawing.figure(layout | axes),
        alt=said.format(position=position, first=f"{angles[0]:.4g}", last=f"{angles[-1]:.4g}"),
        table={
            _("pair"): list(range(len(angles))), _("angle, radians"): angles,
            "x": turned.pairs[:, 0].tolist(), "y": turned.pairs[:, 1].tolist(),
        },
    )  # fmt: skip
