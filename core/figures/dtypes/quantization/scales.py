"""What a block shares: the four scale rules of MX, and how many values have one scale."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from core.dtypes.blocks.block_layout import PER_CHANNEL, PER_TENSOR, BlockSize
from core.dtypes.blocks.storage_trials import RuleTrial, SizeTrial
from core.figures.dtypes.quantization.trial_frame import spread_labels, trial_layout
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import format_decibels

RULES_PX: Final = (370, 430)  # on a screen, on a projector
GROUPS_PX: Final = (380, 430)
MAX_POINTS: Final = 400  # blocks drawn for each rule; the numbers count them all
_RULES: Final = (
    ("floor", "format_b", "circle"),
    ("ceil", "activations", "square"),
    ("even", "optimizer", "diamond"),
    ("rceil", "format_a", "triangle-up"),
)
_LINE_SHARE: Final = 0.07  # of the height of the picture, from one name to the next
_FAMILIES: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "int8_group128": (N_("int8"), "weights", "solid", "circle"),
    "int4_group128_affine": (N_("int4, affine"), "gradients", "dash", "square"),
    "nf4": (N_("NF4"), "optimizer", "dot", "diamond"),
    "int4_group128": (N_("int4, symmetric"), "activations", "longdash", "triangle-up"),
}


def rules_picture(trials: Sequence[RuleTrial], look: Look) -> Picture:
    """Return how full each block is under each rule; above 1 its largest value is clipped."""
    drawing, overflow = Drawing(), look.color("overflow")
    fullness = np.concatenate([trial.fullness for trial in trials])
    top = max(1.25, float(fullness[np.isfinite(fullness)].max(initial=0.0)) * 1.05)
    drawing.shape(
        type="rect", xref="x domain", x0=0, x1=1, yref="y", y0=1, y1=top, layer="below",
        fillcolor=overflow, opacity=0.15, line={"width": 0},
    )  # fmt: skip
    drawing.note(
        text=_("clipped"), x=1, xref="paper", y=1, xanchor="right", yanchor="bottom",
        font={"color": overflow},
    )  # fmt: skip
    for place, trial in enumerate(trials):
        _draw_rule(drawing, trial, place, look)
    layout = trial_layout(
        look,
        RULES_PX,
        x={
            "tickvals": list(range(len(trials))),
            "ticktext": [_summary(trial) for trial in trials],
            "range": [-0.5, len(trials) - 0.5],
            "showgrid": False,
        },
        y={"range": [0, top], "title": {"text": _("largest of the block / limit")}},
    )
    return Picture(
        figure=drawing.figure(layout), alt=_rules_sentence(trials), table=_rules_table(trials)
    )


def _summary(trial: RuleTrial) -> str:
    clipped = _("{share} of blocks clipped").format(share=f"{overfull_share(trial):.0%}")
    return f"<b>{trial.rule}</b><br>{format_decibels(trial.stats.sqnr_db)}<br>{clipped}"


def overfull_share(trial: RuleTrial) -> float:
    """Return the share of blocks whose largest value does not fit under their scale."""
    return trial.num_overfull / max(trial.fullness.size, 1)


def _draw_rule(drawing: Drawing, trial: RuleTrial, place: int, look: Look) -> None:
    step = max(trial.fullness.size // MAX_POINTS, 1)
    shown, exponents = trial.fullness[::step], trial.exponents[::step]
    # Side by side in a fixed order: a block stands at the same place under every rule.
    spots = place + (np.arange(shown.size) + 0.5) / max(shown.size, 1) * 0.7 - 0.35
    _rule, meaning, symbol = _RULES[place]
    drawing.scatter(
        x=spots,
        y=np.nan_to_num(shown, nan=0.0),
        mode="markers",
        marker={
            "color": look.color(meaning),
            "symbol": symbol,
            "size": 5 if shown.size > 40 else 9,
        },
        customdata=np.stack([np.arange(shown.size) * step, exponents], axis=1),
        hovertemplate=_("block %{customdata[0]}: scale 2^%{customdata[1]}, full to %{y:.1%}")
        + f"<extra>{trial.rule}</extra>",
    )


def _rules_sentence(trials: Sequence[RuleTrial]) -> str:
    parts = [
        _("{rule}: {sqnr}, {share} of the blocks clipped").format(
            rule=trial.rule,
            sqnr=format_decibels(trial.stats.sqnr_db),
            share=f"{overfull_share(trial):.1%}",
        )
        for trial in trials
    ]
    return _("; ").join(parts) + _(".")


def _rules_table(trials: Sequence[RuleTrial]) -> Table:
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


def groups_picture(trials: Sequence[SizeTrial], group_size: int, look: Look) -> Picture:
    """Return one line a family: SQNR over group size, with the bits beside each point on hover.

    Args:
        trials: Every family at every size.
        group_size: The size that is chosen now; a line marks it.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    lines = [[each for each in trials if each.family == family] for family in _FAMILIES]
    for line in lines:
        _draw_family(drawing, line, look)
    _name_lines(drawing, lines, look)
    sizes = [trial.size for trial in lines[0]]
    place = sizes.index(group_size)
    drawing.shape(
        type="line", x0=place, x1=place, xref="x", y0=0, y1=1, yref="y domain",
        line={"color": look.color("reference"), "dash": "dot", "width": 2},
    )  # fmt: skip
    layout = trial_layout(
        look,
        GROUPS_PX,
        x={
            "tickvals": list(range(len(sizes))),
            "ticktext": [size_name(size) for size in sizes],
            "title": {"text": _("values that share a scale")},
        },
        y={"title": {"text": _("SQNR (dB)")}},
        right=200 if look.present else 150,
    )
    return Picture(
        figure=drawing.figure(layout),
        alt=_groups_sentence(trials, group_size),
        table=_groups_table(trials),
    )


def size_name(size: BlockSize) -> str:
    """Return the group size as a word: a number, a row, or the tensor."""
    return {PER_CHANNEL: _("row"), PER_TENSOR: _("tensor")}.get(str(size), str(size))


def _draw_family(drawing: Drawing, trials: Sequence[SizeTrial], look: Look) -> None:
    name, meaning, dash, symbol = _FAMILIES[trials[0].family]
    color = look.color(meaning)
    drawing.scatter(
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


def _name_lines(drawing: Drawing, lines: Sequence[Sequence[SizeTrial]], look: Look) -> None:
    """Write the name of each line at its right end, none over another."""
    ends = [line[-1].sqnr_db for line in lines]
    known = [trial.sqnr_db for line in lines for trial in line if math.isfinite(trial.sqnr_db)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    wanted = [end if math.isfinite(end) else low for end in ends]
    heights = spread_labels(wanted, low - 5, high + 5, max(high - low, 10) * _LINE_SHARE)
    for line, height in zip(lines, heights, strict=True):
        name, meaning, *_rest = _FAMILIES[line[0].family]
        drawing.note(
            x=1,
            xref="paper",
            y=height,
            text=_(name),
            xanchor="left",
            font={"color": look.color(meaning)},
        )


def _groups_sentence(trials: Sequence[SizeTrial], group_size: int) -> str:
    """Return each family at the chosen size and with one scale for all."""
    parts = []
    for family, (name, *_rest) in _FAMILIES.items():
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


def _groups_table(trials: Sequence[SizeTrial]) -> Table:
    """Return one row for each family and size."""
    return {
        _("format"): [_(_FAMILIES[trial.family][0]) for trial in trials],
        _("values per scale"): [size_name(trial.size) for trial in trials],
        _("bits per value"): [f"{trial.bits:.4g}" for trial in trials],
        _("SQNR"): [format_decibels(trial.sqnr_db) for trial in trials],
    }
