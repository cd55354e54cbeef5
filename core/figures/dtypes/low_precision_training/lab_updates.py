"""A weight over many small updates: stored alone, stored by chance, or copied from a master."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.labs import WeightUpdates
from core.figures.dtypes.lab_frame import (
    MAX_ROWS,
    STYLES,
    exact_name,
    lab_figure,
    line,
    number,
    some,
)
from core.figures.theme import Mode
from core.language import N_, _

WAYS: Final = {
    "nearest": N_("stored, rounded to nearest"),
    "stochastic": N_("stored, rounded stochastically"),
    "master": N_("copied from an FP32 master"),
}


def updates_figure(
    ways: Mapping[str, WeightUpdates], chosen: str, mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Return the weight's path in each way (a key of `WAYS`), the chosen one in bold."""
    first = next(iter(ways.values()))
    places = some(first.stored.size)
    lines = [
        line(
            places,
            each.stored[places],
            _(WAYS[way]),
            mode,
            color,
            dash=dash,
            width=5 if way == chosen else 2.5,
        )
        for (way, each), (color, dash, _symbol) in zip(ways.items(), STYLES, strict=False)
    ]
    true = line(places, first.exact[places], exact_name(), mode, "reference", dash="longdash")
    return lab_figure(
        [true, *lines],
        mode,
        present=present,
        x={"title": _("step"), "tickformat": ","},
        y={"title": _("weight"), "tickformat": ".6~g"},
    )


def updates_alt(ways: Mapping[str, WeightUpdates]) -> str:
    """Return the picture as one sentence: where each way ends."""
    first = next(iter(ways.values()))
    parts = [
        _("{way}: {weight}").format(way=_(WAYS[way]), weight=number(each.stored[-1]))
        for way, each in ways.items()
    ]
    return _("A weight after {steps} updates should be {exact}. {parts}.").format(
        steps=f"{first.stored.size - 1:,}", exact=number(first.exact[-1]), parts="; ".join(parts)
    )


def updates_table(ways: Mapping[str, WeightUpdates]) -> Mapping[str, Sequence[object]]:
    """Return some of the steps, the last one always."""
    first = next(iter(ways.values()))
    places = some(first.stored.size, MAX_ROWS)
    return {
        _("step"): places,
        exact_name(): [number(value) for value in first.exact[places]],
        **{
            _(WAYS[way]): [number(value, 9) for value in each.stored[places]]
            for way, each in ways.items()
        },
    }
