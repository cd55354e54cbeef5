"""One product and one draw: how the spread grows with fan_in, and where a truncated normal ends."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from core.figures.models.layers_and_parameters.curves import curve_layout
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.models.initialisation import Truncation

_SHOWN_SIGMAS: Final = 6


def product_picture(spreads: Mapping[int, Mapping[str, float]], look: Look) -> Picture:
    """Return the spread of x @ w by fan_in, for w of N(0, 1) and of N(0, 1/√fan_in).

    Args:
        spreads: fan_in -> "unit" and "fan_in" -> measured standard deviation.
        look: How the reader wants to see.
    """
    drawing, fan_ins = Drawing(), list(spreads)
    curves = {
        "N(0, 1)": ("unit", "candidate_high", "dash"),
        "N(0, 1/√fan_in)": ("fan_in", "accent", "solid"),
    }
    values = {name: [each[key] for each in spreads.values()] for name, (key, *_) in curves.items()}
    for name, (_key, color, dash) in curves.items():
        drawing.scatter(
            x=fan_ins, y=values[name], name=name, mode="lines+markers",
            line={"color": look.color(color), "width": 3, "dash": dash},
            hovertemplate="fan_in %{x}: %{y:.4g}<extra>" + name + "</extra>",
        )  # fmt: skip
    axes: dict[str, dict[str, Any]] = {
        "xaxis": {"title": {"text": "fan_in"}, "type": "log", "tickvals": fan_ins},
        "yaxis": {"title": {"text": _("standard deviation of x @ w")}, "type": "log", "dtick": 1},
    }
    last = {name: f"{column[-1]:.4g}" for name, column in values.items()}
    alt = _("Standard deviation of x @ w at fan_in {fan_in}: {parts}.").format(
        fan_in=fan_ins[-1], parts=_(", ").join(f"{name} {value}" for name, value in last.items())
    )
    table: dict[str, Sequence[Any]] = {"fan_in": fan_ins, **values}
    return Picture(figure=drawing.figure(curve_layout(look, axes)), alt=alt, table=table)


def bound_picture(cut: Truncation, look: Look) -> Picture:
    """Return the histogram of the weights in standard deviations, its bounds as lines."""
    drawing, edges = Drawing(), cut.edges
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    drawing.bar(
        x=middles, y=list(cut.counts), name=_("weights"), marker={"color": look.color("weights")},
        hovertemplate="%{x:.1f}σ: %{y:,}<extra></extra>",
    )  # fmt: skip
    for side in (-1, 1) if cut.bound_in_sigmas <= _SHOWN_SIGMAS else ():
        drawing.shape(
            type="line", xref="x", yref="paper", x0=side * cut.bound_in_sigmas,
            x1=side * cut.bound_in_sigmas, y0=0, y1=1,
            line={"color": look.color("refused"), "width": 3, "dash": "dash"},
        )  # fmt: skip
    axes: dict[str, dict[str, Any]] = {
        "xaxis": {"title": {"text": _("weight, in standard deviations σ")}, "dtick": 1},
        "yaxis": {"title": {"text": _("weights")}, "type": "log", "dtick": 1},
    }
    alt = _("A million weights with bounds of ±{sigmas}σ reach to {largest}σ.").format(
        sigmas=f"{cut.bound_in_sigmas:g}", largest=f"{cut.largest:.3f}"
    )
    layout = curve_layout(look, axes) | {"bargap": 0, "showlegend": False}
    table: dict[str, Sequence[Any]] = {_("from σ"): edges[:-1], _("weights"): cut.counts}
    return Picture(figure=drawing.figure(layout), alt=alt, table=table)
