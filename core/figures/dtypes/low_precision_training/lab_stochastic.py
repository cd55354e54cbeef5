"""Many weights under stochastic rounding: single paths, their mean, and rounding to nearest."""

from collections.abc import Mapping, Sequence

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.labs import StochasticUpdates
from core.figures.dtypes.lab_frame import MAX_ROWS, exact_name, lab_figure, line, number, some
from core.figures.theme import COLORS, Mode
from core.language import _


def stochastic_figure(
    many: StochasticUpdates, mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Return some paths thin, nine tenths of all as a band, the mean bold, and the truth."""
    places = some(many.mean.size)
    paths = [
        line(places, path[places], _("single weights"), mode, "format_d", width=1)
        for path in many.paths
    ]
    for path in paths:
        path.update(showlegend=path is paths[0], hoverinfo="skip", hovertemplate=None)
        path.update(line={"shape": "hv"})
    return lab_figure(
        [
            *_band(many, places, mode),
            *paths,
            line(places, many.nearest[places], _("rounded to nearest"), mode, "format_a",
                 dash="dash"),
            line(places, many.mean[places], _("mean of all"), mode, "format_b", width=5),
            line(places, many.exact[places], exact_name(), mode, "reference", dash="longdash"),
        ],
        mode,
        present=present,
        x={"title": _("step"), "tickformat": ","},
        y={"title": _("weight"), "tickformat": ".6~g"},
    )  # fmt: skip


def _band(many: StochasticUpdates, places: list[int], mode: Mode) -> list[go.Scatter]:
    edge = {"x": places, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    color = COLORS[mode]["border"]
    low = go.Scatter(y=many.low[places], showlegend=False, **edge)
    high = go.Scatter(
        y=many.high[places], name=_("9 of 10 weights"), fill="tonexty", fillcolor=color, **edge
    )
    return [low, high]


def stochastic_alt(many: StochasticUpdates) -> str:
    """Return the picture as one sentence: where the mean, the band and nearest end."""
    return _(
        "{count} weights in {format}, rounded stochastically, end at {mean} on average, nine of "
        "ten between {low} and {high}; the truth is {exact}, rounding to nearest gives {nearest}."
    ).format(
        count=f"{many.num_weights:,}",
        format=many.format,
        mean=number(many.mean[-1], 5),
        low=number(many.low[-1], 4),
        high=number(many.high[-1], 4),
        exact=number(many.exact[-1]),
        nearest=number(many.nearest[-1]),
    )


def stochastic_table(many: StochasticUpdates) -> Mapping[str, Sequence[object]]:
    """Return some of the steps, the last one always."""
    places = some(many.mean.size, MAX_ROWS)
    columns = (
        (exact_name(), many.exact),
        (_("mean of all"), many.mean),
        (_("5 % are below"), many.low),
        (_("5 % are above"), many.high),
        (_("rounded to nearest"), many.nearest),
    )
    return {
        _("step"): places,
        **{name: [number(value) for value in values[places]] for name, values in columns},
    }
