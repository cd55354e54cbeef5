"""What is quantized, and how: a tensor, two formats and their settings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import streamlit as st

from core.dtypes.blocks.scale_rules import SCALE_RULES
from core.dtypes.blocks.storage import (
    GROUP_SIZES,
    STORAGE_NAMES,
    Storage,
    find_storage,
    has_group_size,
    has_scale_rule,
)
from core.dtypes.blocks.storage_trials import Trial
from core.dtypes.blocks.stored_part import Where
from core.figures.dtypes.written import percent
from core.language import N_, _
from core.units import format_decibels
from pages.dtypes.quantization.tensor import Chosen, choose_tensor, make_tensor
from pages.shared.inputs import Inputs

ASK: Final = Inputs("quant")
SIZES: Final = (64, 128, 256, 512)
MAX_SEED: Final = 9999
SAME: Final[Literal["same"]] = "same"
_WHERES: Final[Mapping[Where, str]] = {
    "largest": N_("around the largest value"),
    "worst": N_("where A loses most"),
    "first": N_("the first values"),
}
Pair = tuple[Storage, Storage]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Case:
    """All choices of the page: the tensor, both formats, the part looked at."""

    chosen: Chosen
    pair: Pair
    where: Where


def choose_case() -> Case:
    """Show the inputs, below them what the tensor needs, and return what was chosen."""
    slider = st.container()
    first = ASK.selectbox("a", _("Format A"), STORAGE_NAMES, default="int8_group128")
    second = ASK.selectbox("b", _("Format B"), STORAGE_NAMES, default="int4_group128")
    names = (first, second)
    with slider:
        group = ASK.select_slider(
            "group",
            _("Group size"),
            GROUP_SIZES,
            default=128,
            help=_("Values that share a scale, in formats with a group in their name."),
            disabled=not any(map(has_group_size, names)),
        )
    rail = st.container()
    settings = st.popover(
        _("Settings"), icon=":material/tune:", key="quant_settings", width="stretch"
    )
    with rail:
        tensor = choose_tensor(ASK)
    with settings:
        one, other = _choose_rules(first, second, group)
        size = ASK.select_slider("size", _("Rows and columns"), SIZES, default=256)
        seed = ASK.number("seed", _("Seed"), 0, MAX_SEED, default=0, step=1)
        where = ASK.selectbox("where", _("Part that is shown"), _WHERES, default="largest")
    chosen = make_tensor(ASK, tensor, size, seed)
    return Case(chosen=chosen, pair=(one, other), where=where)


def _choose_rules(first: str, second: str, group: int) -> Pair:
    names = (first, second)
    rule = ASK.segmented(
        "rule",
        _("Scale rule (MX formats)"),
        SCALE_RULES,
        default="floor",
        disabled=not any(map(has_scale_rule, names)),
    )
    rule_b = ASK.selectbox(
        "rule_b",
        _("Scale rule of B"),
        (SAME, *SCALE_RULES),
        default=SAME,
        labels=lambda key: _("the same") if key == SAME else key,
        disabled=not has_scale_rule(second),
    )
    return (
        find_storage(first, rule, group),
        find_storage(second, rule if rule_b == SAME else rule_b, group),
    )


def qualities(trials: Sequence[Trial]) -> str:
    templates = [
        _("{name} ({bits} bits per value): error {error}"),
        _("{name} ({bits} bits): {error}"),
    ]
    return _("; ").join(
        _("{name}: nothing left").format(name=f"`{trial.name}`")
        if math.isnan(trial.stats.sqnr_db)
        else templates[min(place, 1)].format(
            name=f"`{trial.name}`",
            error=percent(trial.stats.relative_rmse),
            bits=f"{trial.bits:.4g}",
        )
        + lost(trial.stats.lost_share)
        for place, trial in enumerate(trials)
    )


def error_notes(trials: Sequence[Trial]) -> list[str]:
    """Return what the error of the headline is, and it in decibels; nothing if all is lost."""
    told = [
        f"{format_decibels(trial.stats.sqnr_db)} (`{trial.name}`)"
        for trial in trials
        if not math.isnan(trial.stats.sqnr_db)
    ]
    text = _("Error: RMS of the differences over the RMS of the tensor. As SQNR: {decibels}.")
    return [text.format(decibels=_(", ").join(told))] if told else []


def lost(share: float) -> str:
    """Return how many values came back as NaN or infinity; nothing to say of none or all."""
    if not 0 < share < 1:
        return ""
    return _(" ({share} of the values lost)").format(share=percent(share))
