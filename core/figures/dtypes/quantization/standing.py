"""Quality against size: every format on one tensor."""

import math
from collections.abc import Sequence
from typing import Any, Final

from core.dtypes.blocks.storage_trials import Trial, best_per_bit
from core.figures.dtypes.quantization.trial_frame import spread_labels, trial_layout
from core.figures.picture import Drawing, Look, Picture, Table
from core.figures.theme import CHART_TEXT_PX, PRESENT_CHART_TEXT_PX
from core.language import _
from core.units import format_decibels, format_percent

HEIGHTS_PX: Final = (400, 420)  # on a screen, on a projector
# Formats of about the same size share a column of labels beside them: (up to so many bits, where).
# The first has room for its longest name before the second, also on a narrow screen.
_COLUMNS: Final = ((5.4, 4.7), (7.0, 6.6), (9.0, 9.2), (64.0, 15.0))
_RIGHT_ALIGNED: Final = 15.0  # the labels of the last column stand left of its points
_LINE_SHARE: Final = 0.05  # of the height of the picture, from one label to the next


def standing_picture(trials: Sequence[Trial], names: tuple[str, str], look: Look) -> Picture:
    """Return SQNR in dB over bits per value, one labelled point a format, A and B in their colours.

    Args:
        trials: The formats.
        names: Format A and format B.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    shown = [trial for trial in trials if abs(trial.sqnr_db) < float("inf")]
    _draw_points(drawing, shown, names, look)
    low, high = _ends(shown, look)
    _draw_labels(drawing, shown, names, (low, high), look)
    layout = trial_layout(
        look,
        HEIGHTS_PX,
        x={
            "type": "log",  # half as many bits are as far from 8 as twice as many
            "range": [math.log10(bits) for bits in (3.8, 17.5)],
            "tickvals": [4, 5, 6, 8, 12, 16],
            "title": {"text": _("bits per value")},
        },
        y={"title": {"text": _("SQNR (dB)")}, "range": [low, high]},
    )
    return Picture(
        figure=drawing.figure(layout), alt=_sentence(trials, names), table=_table(trials)
    )


def _draw_points(
    drawing: Drawing, trials: Sequence[Trial], names: tuple[str, str], look: Look
) -> None:
    """Draw a point a format, A and B above all others, and the line that no format is above."""
    front = best_per_bit(trials)
    drawing.scatter(
        x=[trial.bits for trial in front],
        y=[trial.sqnr_db for trial in front],
        mode="lines",
        line={"color": look.color("reference"), "dash": "dot", "width": 2, "shape": "hv"},
        hoverinfo="skip",
    )
    ordered = sorted(trials, key=lambda trial: trial.name in names)
    drawing.scatter(
        x=[trial.bits for trial in ordered],
        y=[trial.sqnr_db for trial in ordered],
        mode="markers",
        marker={
            "color": [look.color(_meaning(trial.name, names)) for trial in ordered],
            "symbol": [_symbol(trial, names) for trial in ordered],
            "size": [15 if trial.name in names else 9 for trial in ordered],
        },
        text=[trial.name for trial in ordered],
        hovertemplate="%{text}: %{y:.1f} dB, %{x:.3f} bits<extra></extra>",
    )


def _meaning(name: str, names: tuple[str, str]) -> str:
    return {names[1]: "format_b", names[0]: "format_a"}.get(name, "muted")


def _symbol(trial: Trial, names: tuple[str, str]) -> str:
    """Return the shape of a point, hollow where values are lost."""
    shape = {names[1]: "square", names[0]: "diamond"}.get(trial.name, "circle")
    return f"{shape}-open" if trial.lost_share else shape


def _draw_labels(
    drawing: Drawing,
    trials: Sequence[Trial],
    names: tuple[str, str],
    ends: tuple[float, float],
    look: Look,
) -> None:
    """Write each name beside its point; a thin line leads from a label that had to move."""
    low, high = ends
    lowest, gap = 0.0, (high - low) * _LINE_SHARE * (1.6 if look.present else 1)
    for most_bits, place in _COLUMNS:
        column = [trial for trial in trials if lowest <= trial.bits < most_bits]
        lowest = most_bits
        if look.present:  # on a projector only what is compared is named; the rest is in the table
            column = [trial for trial in column if trial.name in names]
        heights = spread_labels([each.sqnr_db for each in column], low, high, gap)
        for trial, height in zip(column, heights, strict=True):
            drawing.note(
                x=math.log10(trial.bits),
                y=trial.sqnr_db,
                ay=height,
                text=f"<b>{trial.name}</b>" if trial.name in names else trial.name,
                **_style(_meaning(trial.name, names), place, look),
            )


def _style(meaning: str, place: float, look: Look) -> dict[str, Any]:
    """Return what all labels have in common: a thin line to the point, and the point's colour."""
    return {
        "ax": math.log10(place),
        "xanchor": "right" if place == _RIGHT_ALIGNED else "left",
        "axref": "x",
        "ayref": "y",
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": look.color("border"),
        "standoff": 6,
        "bgcolor": look.color("background"),
        "borderpad": 0,
        "font": {
            "color": look.color("text" if meaning == "muted" else meaning),
            "size": PRESENT_CHART_TEXT_PX if look.present else CHART_TEXT_PX - 2,
        },
    }


def _ends(trials: Sequence[Trial], look: Look) -> tuple[float, float]:
    values = [trial.sqnr_db for trial in trials] or [0.0, 1.0]
    low, high = min(values), max(values)
    room = max(high - low, 10.0) * (0.12 if look.present else 0.06)
    return low - room, high + room


def _sentence(trials: Sequence[Trial], names: tuple[str, str]) -> str:
    """Return A and B, and the formats that no other beats."""
    found = {trial.name: trial for trial in trials}
    parts = [
        _("{name}: {sqnr} at {bits} bits").format(
            name=name, sqnr=format_decibels(found[name].sqnr_db), bits=f"{found[name].bits:.4g}"
        )
        for name in dict.fromkeys(names)
    ]
    best = _(", ").join(trial.name for trial in best_per_bit(trials))
    return _("{compared}. Better than every format of the same size or less: {best}.").format(
        compared=_("; ").join(parts), best=best or "-"
    )


def _table(trials: Sequence[Trial]) -> Table:
    """Return the formats, smallest first."""
    ordered = sorted(trials, key=lambda trial: (trial.bits, -trial.sqnr_db))
    return {
        _("format"): [trial.name for trial in ordered],
        _("bits per value"): [f"{trial.bits:.4g}" for trial in ordered],
        _("SQNR"): [format_decibels(trial.sqnr_db) for trial in ordered],
        _("values lost"): [format_percent(trial.lost_share) for trial in ordered],
    }
