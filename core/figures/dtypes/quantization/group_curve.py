"""Quality over the number of values that share a scale."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.blocks.block_layout import PER_CHANNEL, PER_TENSOR, BlockSize
from core.dtypes.blocks.storage_trials import SizeTrial
from core.figures.dtypes.quantization.label_places import spread_labels
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _
from core.units import format_decibels

HEIGHT_PX: Final = 380
PRESENT_HEIGHT_PX: Final = 430
_LINE_SHARE: Final = 0.07  # of the height of the picture, from one name to the next
_FAMILIES: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "int8_group128": (N_("int8"), "weights", "solid", "circle"),
    "int4_group128_affine": (N_("int4, affine"), "gradients", "dash", "square"),
    "nf4": (N_("NF4"), "optimizer", "dot", "diamond"),
    "int4_group128": (N_("int4, symmetric"), "activations", "longdash", "triangle-up"),
}


def size_name(size: BlockSize) -> str:
    """Return the group size as a word: a number, a row, or the tensor."""
    return {PER_CHANNEL: _("row"), PER_TENSOR: _("tensor")}.get(str(size), str(size))


def group_figure(
    trials: Sequence[SizeTrial], group_size: int, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return one line a family: SQNR over group size, with the bits beside each point on hover.

    Args:
        trials: Every family at every size.
        group_size: The size that is chosen now; a line marks it.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    layout = plotly_layout(mode, present=present)
    figure = go.Figure(layout=layout | {"template": "none", "showlegend": False})
    lines = [[each for each in trials if each.family == family] for family in _FAMILIES]
    for line in lines:
        _draw_family(figure, line, mode)
    _name_lines(figure, lines, mode)
    sizes = [trial.size for trial in lines[0]]
    figure.add_vline(
        x=sizes.index(group_size),
        line={"color": COLORS[mode]["reference"], "dash": "dot", "width": 2},
    )
    axis = {"zeroline": False, "fixedrange": True}
    figure.update_layout(
        xaxis=layout["xaxis"]
        | axis
        | {
            "tickvals": list(range(len(sizes))),
            "ticktext": [size_name(size) for size in sizes],
            "title": {"text": _("values that share a scale")},
        },
        yaxis=layout["yaxis"] | axis | {"title": {"text": _("SQNR (dB)")}},
        height=PRESENT_HEIGHT_PX if present else HEIGHT_PX,
        margin={"l": 8, "r": 150 if not present else 200, "t": 12, "b": 8},
    )
    return figure


def _draw_family(figure: go.Figure, trials: Sequence[SizeTrial], mode: Mode) -> None:
    name, token, dash, symbol = _FAMILIES[trials[0].family]
    color = COLORS[mode][token]
    figure.add_scatter(
        x=list(range(len(trials))),
        y=[trial.sqnr_db for trial in trials],
        mode="lines+markers",
        line={"color": color, "dash": dash, "width": 2.5},
        marker={"color": color, "symbol": symbol, "size": 10},
        name=_(name),
        customdata=[(size_name(trial.size), trial.bits) for trial in trials],
        hovertemplate="%{customdata[0]}: %{y:.1f} dB, %{customdata[1]:.3f} bits"
        "<extra>%{fullData.name}</extra>",
    )


def _name_lines(figure: go.Figure, lines: Sequence[Sequence[SizeTrial]], mode: Mode) -> None:
    """Write the name of each line at its right end, none over another."""
    ends = [line[-1].sqnr_db for line in lines]
    known = [trial.sqnr_db for line in lines for trial in line if math.isfinite(trial.sqnr_db)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    wanted = [end if math.isfinite(end) else low for end in ends]
    heights = spread_labels(wanted, low - 5, high + 5, max(high - low, 10) * _LINE_SHARE)
    for line, height in zip(lines, heights, strict=True):
        name, token, *_look = _FAMILIES[line[0].family]
        figure.add_annotation(
            x=1,
            xref="paper",
            y=height,
            text=_(name),
            xanchor="left",
            showarrow=False,
            font={"color": COLORS[mode][token]},
        )


def group_alt(trials: Sequence[SizeTrial], group_size: int) -> str:
    """Return the picture in words: each family at the chosen size and with one scale for all."""
    parts = []
    for family, (name, *_look) in _FAMILIES.items():
        by_size = {trial.size: trial for trial in trials if trial.family == family}
        parts.append(
            _("{name}: {group} in groups of {size}, {tensor} with one scale").format(
                name=_(name),
                size=group_size,
                group=format_decibels(by_size[group_size].sqnr_db),
                tensor=format_decibels(by_size[PER_TENSOR].sqnr_db),
            )
        )
    return _("; ").join(parts) + _(".")


def group_table(trials: Sequence[SizeTrial]) -> Mapping[str, Sequence[object]]:
    """Return one row for each family and size."""
    return {
        _("format"): [_(_FAMILIES[trial.family][0]) for trial in trials],
        _("values per scale"): [size_name(trial.size) for trial in trials],
        _("bits per value"): [f"{trial.bits:.4g}" for trial in trials],
        _("SQNR"): [format_decibels(trial.sqnr_db) for trial in trials],
    }
