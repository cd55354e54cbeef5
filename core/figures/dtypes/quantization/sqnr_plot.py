"""Quality against size: every format on one tensor, and every group size."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.blocks.storage_trials import Trial, best_per_bit
from core.figures.dtypes.quantization.label_places import spread_labels
from core.figures.theme import (
    CHART_TEXT_PX,
    COLORS,
    PRESENT_CHART_TEXT_PX,
    Mode,
    plotly_layout,
)
from core.language import _
from core.units import format_decibels, format_percent

HEIGHT_PX: Final = 400
PRESENT_HEIGHT_PX: Final = 420
# Formats of about the same size share a column of labels beside them: (up to so many bits, where).
_COLUMNS: Final = ((5.4, 5.0), (7.0, 6.5), (9.0, 9.2), (64.0, 15.0))
_RIGHT_ALIGNED: Final = 15.0  # the labels of the last column stand left of its points
_LINE_SHARE: Final = 0.05  # of the height of the picture, from one label to the next


def sqnr_figure(
    trials: Sequence[Trial], names: tuple[str, str], mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return SQNR in dB over bits per value, one labelled point a format, A and B in their colours.

    Args:
        trials: The formats.
        names: Format A and format B.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    layout = plotly_layout(mode, present=present)
    shown = [trial for trial in trials if abs(trial.sqnr_db) < float("inf")]
    figure = go.Figure(layout=layout | {"template": "none", "showlegend": False})
    front = best_per_bit(shown)
    figure.add_scatter(
        x=[trial.bits for trial in front],
        y=[trial.sqnr_db for trial in front],
        mode="lines",
        line={"color": COLORS[mode]["reference"], "dash": "dot", "width": 2, "shape": "hv"},
        hoverinfo="skip",
    )
    _draw_points(figure, shown, names, mode)
    labels = _labels(shown, names, mode, present=present)
    axis = {"zeroline": False, "fixedrange": True}
    figure.update_layout(
        xaxis=layout["xaxis"]
        | axis
        | {
            "type": "log",  # half as many bits are as far from 8 as twice as many
            "range": [math.log10(bits) for bits in (3.8, 17.5)],
            "tickvals": [4, 5, 6, 8, 12, 16],
            "title": {"text": _("bits per value")},
        },
        yaxis=layout["yaxis"]
        | axis
        | {"title": {"text": _("SQNR (dB)")}, "range": list(_height(shown, present=present))},
        height=PRESENT_HEIGHT_PX if present else HEIGHT_PX,
        margin={"l": 8, "r": 8, "t": 12, "b": 8},
        annotations=labels,
    )
    return figure


def _draw_points(
    figure: go.Figure, trials: Sequence[Trial], names: tuple[str, str], mode: Mode
) -> None:
    ordered = sorted(trials, key=lambda trial: trial.name in names)  # A and B above all others
    figure.add_scatter(
        x=[trial.bits for trial in ordered],
        y=[trial.sqnr_db for trial in ordered],
        mode="markers",
        marker={
            "color": [COLORS[mode][_token(trial.name, names)] for trial in ordered],
            "symbol": [_symbol(trial, names) for trial in ordered],
            "size": [15 if trial.name in names else 9 for trial in ordered],
        },
        text=[trial.name for trial in ordered],
        hovertemplate="%{text}: %{y:.1f} dB, %{x:.3f} bits<extra></extra>",
    )


def _token(name: str, names: tuple[str, str]) -> str:
    return {names[1]: "format_b", names[0]: "format_a"}.get(name, "muted")


def _symbol(trial: Trial, names: tuple[str, str]) -> str:
    """Return the shape of a point, hollow where values are lost."""
    shape = {names[1]: "square", names[0]: "diamond"}.get(trial.name, "circle")
    return f"{shape}-open" if trial.lost_share else shape


def _labels(
    trials: Sequence[Trial], names: tuple[str, str], mode: Mode, *, present: bool
) -> list[dict[str, Any]]:
    """Return each name beside its point; a thin line leads from a label that had to move."""
    low, high = _height(trials, present=present)
    labels: list[dict[str, Any]] = []
    lowest, gap = 0.0, (high - low) * _LINE_SHARE * (1.6 if present else 1)
    for most_bits, place in _COLUMNS:
        column = [trial for trial in trials if lowest <= trial.bits < most_bits]
        lowest = most_bits
        if present:  # on a projector only what is compared is named; the rest is in the table
            column = [trial for trial in column if trial.name in names]
        heights = spread_labels([each.sqnr_db for each in column], low, high, gap)
        for trial, height in zip(column, heights, strict=True):
            look = _style(_token(trial.name, names), mode, place, present=present)
            labels.append(look | _pointing(trial, names) | {"ay": height})
    return labels


def _pointing(trial: Trial, names: tuple[str, str]) -> dict[str, Any]:
    text = f"<b>{trial.name}</b>" if trial.name in names else trial.name
    return {"x": math.log10(trial.bits), "y": trial.sqnr_db, "text": text}


def _style(meaning: str, mode: Mode, place: float, *, present: bool) -> dict[str, Any]:
    """Return what all labels have in common: a thin line to the point, and the point's colour."""
    colors = COLORS[mode]
    return {
        "ax": math.log10(place),
        "xanchor": "right" if place == _RIGHT_ALIGNED else "left",
        "axref": "x",
        "ayref": "y",
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": colors["border"],
        "standoff": 6,
        "bgcolor": colors["background"],
        "borderpad": 0,
        "font": {
            "color": colors["text" if meaning == "muted" else meaning],
            "size": PRESENT_CHART_TEXT_PX if present else CHART_TEXT_PX - 2,
        },
    }


def _height(trials: Sequence[Trial], *, present: bool) -> tuple[float, float]:
    values = [trial.sqnr_db for trial in trials] or [0.0, 1.0]
    low, high = min(values), max(values)
    room = max(high - low, 10.0) * (0.12 if present else 0.06)
    return low - room, high + room


def sqnr_alt(trials: Sequence[Trial], names: tuple[str, str]) -> str:
    """Return the picture in words: A and B, and the formats that no other beats."""
    found = {trial.name: trial for trial in trials}
    parts = [
        _("{name}: {sqnr} at {bits} bits").format(
            name=name, sqnr=format_decibels(found[name].sqnr_db), bits=f"{found[name].bits:.4g}"
        )
        for name in dict.fromkeys(names)
    ]
    best = ", ".join(trial.name for trial in best_per_bit(trials))
    return _("{compared}. Better than every format of the same size or less: {best}.").format(
        compared=_("; ").join(parts), best=best or "-"
    )


def sqnr_table(trials: Sequence[Trial]) -> Mapping[str, Sequence[object]]:
    """Return the formats, smallest first."""
    ordered = sorted(trials, key=lambda trial: (trial.bits, -trial.sqnr_db))
    return {
        _("format"): [trial.name for trial in ordered],
        _("bits per value"): [f"{trial.bits:.4g}" for trial in ordered],
        _("SQNR"): [format_decibels(trial.sqnr_db) for trial in ordered],
        _("values lost"): [format_percent(trial.lost_share) for trial in ordered],
    }
