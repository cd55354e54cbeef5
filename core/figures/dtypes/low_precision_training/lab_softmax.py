"""Softmax in few bits: the exponentials under the format's ceiling, and the probabilities."""

import math
import string
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.labs import SoftmaxTrace
from core.dtypes.number_formats.table import FORMATS
from core.figures.dtypes.lab_frame import hatched, lab_figure, number, short
from core.figures.theme import COLORS, Mode
from core.language import _

_DOMAINS: Final = ((0.0, 0.36), (0.46, 1.0))


def softmax_figure(
    naive: SoftmaxTrace, stable: SoftmaxTrace, mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Return exp(logit) beside the format's largest number, and three answers for each logit."""
    # Two logits may be stored alike: the letter keeps their bars apart.
    words = [
        f"{letter}: {number(logit, 3)}"
        for letter, logit in zip(string.ascii_uppercase, naive.logits, strict=False)
    ]
    figure = lab_figure(
        [
            _exponentials(naive, words, mode),
            _ceiling(naive, words, mode),
            *_answers(naive, stable, words, mode),
        ],
        mode,
        present=present,
        x={"title": _("exp(logit)"), "type": "category", "domain": _DOMAINS[0], "tickangle": 0},
        y={"title": "", **_log_axis(naive)},
    )
    side = figure.layout.xaxis.to_plotly_json()
    side |= {"domain": _DOMAINS[1], "anchor": "y2", "title": {"text": _("probability")}}
    height = figure.layout.yaxis.to_plotly_json()
    height |= {"anchor": "x2", "range": [0, 1.12], "type": "linear"}
    height |= {"tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]}
    figure.update_layout(xaxis2=side, yaxis2=height, barmode="group", bargap=0.12)
    return figure


def _log_axis(naive: SoftmaxTrace) -> dict[str, Any]:
    high = math.log10(FORMATS[naive.format].max)
    low = math.log10(FORMATS[naive.format].smallest_subnormal)
    return {
        "type": "log",
        "range": [max(low, -high) - 0.5, high * 1.22 + 0.5],
        "nticks": 6,
        "exponentformat": "power",
    }


def _exponentials(naive: SoftmaxTrace, words: list[str], mode: Mode) -> go.Bar:
    colors = COLORS[mode]
    fits = np.isfinite(naive.exponentials)
    beyond = FORMATS[naive.format].max * 2
    return go.Bar(
        x=words,
        # A bar cannot be infinite: it breaks through the ceiling, and its text says what it is.
        y=[value if ok else beyond for value, ok in zip(naive.exponentials, fits, strict=True)],
        text=[_compact(value) for value in naive.exponentials],
        textposition=[
            "inside" if value > 1 and ok else "outside"
            for value, ok in zip(naive.exponentials, fits, strict=True)
        ],
        insidetextanchor="end",
        textangle=0,
        constraintext="none",
        insidetextfont={"color": colors["background"]},
        cliponaxis=False,
        marker={
            "color": [colors["format_a"] if ok else colors["overflow"] for ok in fits],
            "pattern": hatched(["" if ok else "x" for ok in fits]),
        },
        showlegend=False,
        hovertemplate="exp(%{x}) = %{text}<extra></extra>",
    )


def _answers(
    naive: SoftmaxTrace, stable: SoftmaxTrace, words: list[str], mode: Mode
) -> list[go.Bar]:
    rows = (
        (_("exact"), naive.exact, "reference", "", False),
        (_("naive"), naive.probabilities, "format_a", "/", True),
        (_("maximum subtracted"), stable.probabilities, "format_b", ".", True),
    )
    return [
        go.Bar(
            x=words,
            y=[value if math.isfinite(value) else 0 for value in values],
            customdata=[_share(value) for value in values],
            text=[_share(value) if written else "" for value in values],
            textposition="outside",
            textangle=0,
            constraintext="none",
            cliponaxis=False,
            name=name,
            marker={"color": COLORS[mode][color], "pattern": hatched(pattern)},
            xaxis="x2",
            yaxis="y2",
            hovertemplate="%{x}: %{customdata}<extra>%{fullData.name}</extra>",
        )
        for name, values, color, pattern, written in rows
    ]


def _compact(value: float) -> str:
    """Return a number that fits into a bar: 2.4e4."""
    if not math.isfinite(value) or 0.1 <= value < 1000:
        return number(value, 3)
    return f"{value:.1e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _share(value: float) -> str:
    """Return a share that fits above a bar: 67 %, 9 %, 0.5 %."""
    if not math.isfinite(value):
        return "NaN"
    return f"{100 * value:.0f} %" if value >= 0.1 else f"{100 * value:.2g} %"


def _ceiling(naive: SoftmaxTrace, words: list[str], mode: Mode) -> go.Scatter:
    most = FORMATS[naive.format].max
    return go.Scatter(
        x=words,
        y=[most] * len(words),
        name=_("largest {format}: {max}").format(format=short(naive.format), max=number(most, 3)),
        mode="lines",
        line={"color": COLORS[mode]["overflow"], "width": 3, "dash": "dash"},
        hoverinfo="skip",
    )


def softmax_alt(naive: SoftmaxTrace, stable: SoftmaxTrace) -> str:
    """Return the picture as one sentence: the largest exponential and what became of it."""
    first = int(np.argmax(naive.logits))
    return _(
        "exp({logit}) in {format} is {exponential}. The naive softmax gives {naive} for that "
        "logit; after subtracting the maximum it gives {stable}; exact is {exact}."
    ).format(
        logit=number(naive.logits[first]),
        format=short(naive.format),
        exponential=number(naive.exponentials[first], 4),
        naive=number(naive.probabilities[first], 4),
        stable=number(stable.probabilities[first], 4),
        exact=number(naive.exact[first], 4),
    )


def softmax_table(naive: SoftmaxTrace, stable: SoftmaxTrace) -> Mapping[str, Sequence[object]]:
    """Return every intermediate of both ways, a row a logit."""

    def column(values: Sequence[float] | Any) -> list[str]:  # noqa: ANN401  any array
        return [number(value) for value in values]

    return {
        _("logit"): column(naive.logits),
        "exp(x)": column(naive.exponentials),
        _("naive"): column(naive.probabilities),
        "x - max": column(stable.shifted),
        "exp(x - max)": column(stable.exponentials),
        _("maximum subtracted"): column(stable.probabilities),
        _("exact"): column(naive.exact),
    }
