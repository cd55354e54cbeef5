"""The four scale rules of MX: how full each block is, and what that does to the error."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.blocks.storage_trials import RuleTrial
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import format_decibels

HEIGHT_PX: Final = 370
PRESENT_HEIGHT_PX: Final = 430
MAX_POINTS: Final = 400  # blocks drawn for each rule; the numbers count them all
_LOOKS: Final = (
    ("floor", "format_b", "circle"),
    ("ceil", "activations", "square"),
    ("even", "optimizer", "diamond"),
    ("rceil", "format_a", "triangle-up"),
)


def rule_figure(trials: Sequence[RuleTrial], mode: Mode, *, present: bool = False) -> go.Figure:
    """Return how full each block is under each rule; above 1 its largest value is clipped."""
    layout = plotly_layout(mode, present=present)
    figure = go.Figure(layout=layout | {"template": "none", "showlegend": False})
    top = max([1.25, *(_highest(trial) * 1.05 for trial in trials)])
    figure.add_hrect(
        y0=1, y1=top, fillcolor=COLORS[mode]["overflow"], opacity=0.15, line_width=0, layer="below"
    )
    figure.add_annotation(
        text=_("clipped"),
        x=1,
        xref="paper",
        y=1,
        xanchor="right",
        yanchor="bottom",
        showarrow=False,
        font={"color": COLORS[mode]["overflow"]},
    )
    for place, trial in enumerate(trials):
        _draw_rule(figure, trial, place, mode)
    axis = {"zeroline": False, "fixedrange": True}
    figure.update_layout(
        xaxis=layout["xaxis"]
        | axis
        | {
            "tickvals": list(range(len(trials))),
            "ticktext": [_summary(trial) for trial in trials],
            "range": [-0.5, len(trials) - 0.5],
            "showgrid": False,
        },
        yaxis=layout["yaxis"]
        | axis
        | {"range": [0, top], "title": {"text": _("largest of the block / limit")}},
        height=PRESENT_HEIGHT_PX if present else HEIGHT_PX,
        margin={"l": 8, "r": 8, "t": 12, "b": 8},
    )
    return figure


def _highest(trial: RuleTrial) -> float:
    finite = trial.fullness[np.isfinite(trial.fullness)]
    return float(finite.max(initial=0.0))


def _summary(trial: RuleTrial) -> str:
    clipped = _("{share} of blocks clipped").format(share=f"{overfull_share(trial):.0%}")
    return f"<b>{trial.rule}</b><br>{format_decibels(trial.stats.sqnr_db)}<br>{clipped}"


def overfull_share(trial: RuleTrial) -> float:
    """Return the share of blocks whose largest value does not fit under their scale."""
    return trial.num_overfull / max(trial.fullness.size, 1)


def _draw_rule(figure: go.Figure, trial: RuleTrial, place: int, mode: Mode) -> None:
    step = max(trial.fullness.size // MAX_POINTS, 1)
    shown, exponents = trial.fullness[::step], trial.exponents[::step]
    # Side by side in a fixed order: a block stands at the same place under every rule.
    spots = place + (np.arange(shown.size) + 0.5) / max(shown.size, 1) * 0.7 - 0.35
    _rule, token, symbol = _LOOKS[place]
    figure.add_scatter(
        x=spots,
        y=np.nan_to_num(shown, nan=0.0),
        mode="markers",
        marker={
            "color": COLORS[mode][token],
            "symbol": symbol,
            "size": 5 if shown.size > 40 else 9,
        },
        customdata=np.stack([np.arange(shown.size) * step, exponents], axis=1),
        hovertemplate=_("block %{customdata[0]}: scale 2^%{customdata[1]}, full to %{y:.1%}")
        + f"<extra>{trial.rule}</extra>",
    )


def rule_alt(trials: Sequence[RuleTrial]) -> str:
    """Return the picture in words."""
    parts = [
        _("{rule}: {sqnr}, {share} of the blocks clipped").format(
            rule=trial.rule,
            sqnr=format_decibels(trial.stats.sqnr_db),
            share=f"{overfull_share(trial):.1%}",
        )
        for trial in trials
    ]
    return _("; ").join(parts) + _(".")


def rule_table(trials: Sequence[RuleTrial]) -> Mapping[str, Sequence[object]]:
    """Return one row a rule."""
    return {
        _("rule"): [trial.rule for trial in trials],
        _("SQNR"): [format_decibels(trial.stats.sqnr_db) for trial in trials],
        _("blocks clipped"): [f"{trial.num_overfull:,}" for trial in trials],
        _("blocks"): [f"{trial.fullness.size:,}" for trial in trials],
        _("scale of the first block"): [f"2^{trial.exponents[0]}" for trial in trials],
        _("largest value"): [f"{trial.largest:.6g}" for trial in trials],
        _("comes back as"): [f"{trial.largest_restored:.6g}" for trial in trials],
    }
