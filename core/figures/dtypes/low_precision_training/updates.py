"""Weights over many small updates: one that is kept in several ways, and many rounded by chance."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.dtypes.labs import StochasticUpdates, WeightUpdates
from core.figures.dtypes.low_precision_training.lab_frame import (
    MAX_ROWS,
    STYLES,
    LabDrawing,
    exact_name,
    some,
)
from core.figures.dtypes.written import number
from core.figures.picture import Look, Picture, Table
from core.language import N_, _

WAYS: Final = {
    "nearest": N_("rounded to nearest"),
    "stochastic": N_("rounded stochastically"),
    "master": N_("FP32 master copy"),
}


def updates_picture(ways: Mapping[str, WeightUpdates], chosen: str, look: Look) -> Picture:
    """Return the weight's path in each way (a key of `WAYS`), the chosen one in bold."""
    drawing, first = LabDrawing(look=look), next(iter(ways.values()))
    places = some(first.stored.size)
    drawing.truth(places, first.exact[places])
    for (way, each), (meaning, dash, _symbol) in zip(ways.items(), STYLES, strict=False):
        y, width = each.stored[places], 5 if way == chosen else 2.5
        drawing.line(places, y, _(WAYS[way]), meaning, dash=dash, width=width)
    listed = some(first.stored.size, MAX_ROWS)
    table: dict[str, Sequence[object]] = {_("step"): listed}
    table[exact_name()] = [number(value) for value in first.exact[listed]]
    for way, each in ways.items():
        table[_(WAYS[way])] = [number(value, 9) for value in each.stored[listed]]
    figure = drawing.figure(_layout(drawing))
    return Picture(figure=figure, alt=_updates_sentence(ways, first), table=table)


def stochastic_picture(many: StochasticUpdates, look: Look) -> Picture:
    """Return some paths thin, nine tenths of all as a band, the mean bold, and the truth."""
    drawing, places = LabDrawing(look=look), some(many.mean.size)
    _draw_band(drawing, many, places)
    for place, path in enumerate(many.paths):
        drawing.scatter(
            x=places,
            y=path[places],
            name=_("single weights"),
            mode="lines",
            line={"color": look.color("format_d"), "dash": "solid", "width": 1, "shape": "hv"},
            showlegend=place == 0,
            hoverinfo="skip",
        )
    nearest = many.nearest[places]
    drawing.line(places, nearest, _("rounded to nearest"), "format_a", dash="dash")
    drawing.line(places, many.mean[places], _("mean of all"), "format_b", width=5)
    drawing.truth(places, many.exact[places])
    return Picture(
        figure=drawing.figure(_layout(drawing)),
        alt=_stochastic_sentence(many),
        table=_stochastic_table(many),
    )


def _layout(drawing: LabDrawing) -> dict[str, Any]:
    return drawing.layout(
        x={"title": _("step"), "tickformat": ","},
        y={"title": _("weight"), "tickformat": ".6~g"},
    )


def _draw_band(drawing: LabDrawing, many: StochasticUpdates, places: list[int]) -> None:
    edge = {"x": places, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    drawing.scatter(y=many.low[places], showlegend=False, **edge)
    drawing.scatter(
        y=many.high[places],
        name=_("9 of 10 weights"),
        fill="tonexty",
        fillcolor=drawing.look.color("border"),
        **edge,
    )


def _updates_sentence(ways: Mapping[str, WeightUpdates], first: WeightUpdates) -> str:
    """Return where each way ends."""
    parts = [
        _("{way}: {weight}").format(way=_(WAYS[way]), weight=number(each.stored[-1]))
        for way, each in ways.items()
    ]
    return _("A weight after {steps} updates should be {exact}. {parts}.").format(
        steps=f"{first.stored.size - 1:,}", exact=number(first.exact[-1]), parts=_("; ").join(parts)
    )


def _stochastic_sentence(many: StochasticUpdates) -> str:
    """Return where the mean, the band and nearest end."""
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


def _stochastic_table(many: StochasticUpdates) -> Table:
    """Return some of the steps, the last one always."""
    places = some(many.mean.size, MAX_ROWS)
    columns = {
        exact_name(): many.exact,
        _("mean of all"): many.mean,
        _("5 % are below"): many.low,
        _("5 % are above"): many.high,
        _("rounded to nearest"): many.nearest,
    }
    written = {name: [number(each) for each in column[places]] for name, column in columns.items()}
    return {_("step"): places, **written}
