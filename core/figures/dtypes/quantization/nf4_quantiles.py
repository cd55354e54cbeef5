"""NF4 as a picture: sixteen quantiles under the normal density, and how often each code is used."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.blocks.nf4 import CodeUse, QuantileStep, nf4_steps, normal_density
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

HEIGHT_PX: Final = 400
PRESENT_HEIGHT_PX: Final = 430
_ROWS: Final = {"nf4": -0.11, "int4": -0.25}  # where the codes stand below the density


def nf4_figure(use: CodeUse, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return the derivation of NF4 on the left and the use of its codes on the right."""
    layout = plotly_layout(mode, present=present)
    figure = go.Figure(layout=layout | {"template": "none"})
    _draw_density(figure, use, mode)
    for name, values in (("nf4", _values()), ("int4", _even_steps())):
        _draw_codes(figure, name, values, mode)
    _draw_use(figure, use, mode)
    _say_entropy(figure, use, mode)
    base = layout["xaxis"] | {"zeroline": False, "showgrid": False}
    figure.update_layout(
        xaxis=base
        | {"domain": [0, 0.6], "title": {"text": _("value / largest value of its block")}},
        yaxis=base | {"visible": False, "range": [-0.32, 1.6]},
        xaxis2=base
        | {
            "domain": [0.66, 1],
            "anchor": "y2",
            "title": {"text": _("steps from zero")},
        },
        yaxis2=layout["yaxis"]
        | {
            "range": [0, _headroom(use)],
            "anchor": "x2",
            "tickformat": ".0%",
            "title": {"text": _("share of the values")},
        },
        height=PRESENT_HEIGHT_PX if present else HEIGHT_PX,
        bargap=0.15,
        hovermode="closest",
    )
    return figure


def _headroom(use: CodeUse) -> float:
    """Return how high the right picture must be for its words to stand above the bars."""
    return float(max(use.nf4.max(), use.int4.max(), 0.01)) * 1.25


def _values() -> list[float]:
    return [step.value for step in nf4_steps()]


def _even_steps() -> list[float]:
    return [step / 7 for step in range(-7, 8)]


def _draw_density(figure: go.Figure, use: CodeUse, mode: Mode) -> None:
    colors, places = COLORS[mode], np.linspace(-1, 1, 201)
    figure.add_bar(
        x=(use.edges[:-1] + use.edges[1:]) / 2,
        y=np.minimum(use.density, 1.6),
        width=np.diff(use.edges),
        marker={"color": colors["border"]},
        name=_("this tensor"),
        customdata=use.density,
        hovertemplate="%{x:.2f}: %{customdata:.2f}<extra>%{fullData.name}</extra>",
    )
    figure.add_scatter(
        x=places,
        y=normal_density(places),
        mode="lines",
        line={"color": colors["text"], "width": 2},
        name=_("normal distribution"),
        hoverinfo="skip",
    )
    steps = nf4_steps()
    heights = normal_density(np.array([step.value for step in steps]))
    figure.add_scatter(
        x=[place for step in steps for place in (step.value, step.value, None)],
        y=[height for each in heights for height in (0, each, None)],
        mode="lines",
        line={"color": colors["format_a"], "width": 2},
        showlegend=False,
        hoverinfo="skip",
    )


def _draw_codes(figure: go.Figure, name: str, values: Sequence[float], mode: Mode) -> None:
    token, symbol = {"nf4": ("format_a", "circle"), "int4": ("format_b", "square")}[name]
    color = COLORS[mode][token]
    texts = _derivations() if name == "nf4" else [_even_text(step) for step in range(-7, 8)]
    figure.add_scatter(
        x=values,
        y=[_ROWS[name]] * len(values),
        mode="markers",
        marker={"color": color, "symbol": symbol, "size": 9},
        name={"nf4": _("NF4: equal shares"), "int4": _("int4: equal steps")}[name],
        text=texts,
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
    )


def _even_text(step: int) -> str:
    return f"{step} / 7 = {step / 7:.4f}"


def _derivations() -> list[str]:
    return [_derivation(step) for step in nf4_steps()]


def _derivation(step: QuantileStep) -> str:
    return _(
        "code {code}: {share} of a normal distribution lie below {quantile} σ; / 1.848 = {value}"
    ).format(
        code=step.code,
        share=f"{step.share:.2%}",
        quantile=f"{step.quantile:.4f}",
        value=f"{step.value:.6f}",
    )


def _draw_use(figure: go.Figure, use: CodeUse, mode: Mode) -> None:
    for name, token, shares, first in (
        ("NF4", "format_a", use.nf4, -7),
        ("int4", "format_b", use.int4, -7),
    ):
        figure.add_bar(
            x=list(range(first, first + len(shares))),
            y=shares,
            name=name,
            marker={
                "color": COLORS[mode][token],
                "pattern": {"shape": "" if name == "NF4" else "/"},
            },
            hovertemplate="%{x}: %{y:.1%}<extra>%{fullData.name}</extra>",
            showlegend=False,
            xaxis="x2",
            yaxis="y2",
        )


def _say_entropy(figure: go.Figure, use: CodeUse, mode: Mode) -> None:
    lines = (("NF4", "format_a", use.nf4_bits), ("int4", "format_b", use.int4_bits))
    for place, (name, token, bits) in enumerate(lines):
        figure.add_annotation(
            text=_("{name}: a code tells {bits} bits").format(name=name, bits=f"{bits:.2f}"),
            x=1,
            y=1 - 0.08 * place,
            xref="paper",
            yref="paper",
            xanchor="right",
            yanchor="bottom",
            showarrow=False,
            font={"color": COLORS[mode][token]},
        )


def nf4_alt(use: CodeUse) -> str:
    """Return the picture in words."""
    return _(
        "NF4 has 16 quantiles of the normal distribution, dense near zero and sparse at the ends; "
        "on this tensor its codes carry {nf4} of 4 bits, the even steps of int4 {int4}. The code "
        "most used holds {most_nf4} of the values in NF4 and {most_int4} in int4."
    ).format(
        nf4=f"{use.nf4_bits:.2f}",
        int4=f"{use.int4_bits:.2f}",
        most_nf4=f"{use.nf4.max():.1%}",
        most_int4=f"{use.int4.max():.1%}",
    )


def nf4_table(use: CodeUse) -> Mapping[str, Sequence[object]]:
    """Return one row for each code: its derivation, and how often this tensor uses it."""
    steps = nf4_steps()
    return {
        _("code"): [step.code for step in steps],
        _("share below"): [f"{step.share:.4%}" for step in steps],
        _("quantile (σ)"): [step.quantile for step in steps],
        _("value"): [f"{step.value:.9f}" for step in steps],
        _("share of the values"): [f"{share:.3%}" for share in use.nf4],
    }
