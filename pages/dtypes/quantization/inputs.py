"""How a tensor is quantized: two formats, and the settings that shape them and the picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.dtypes.blocks.scale_rules import SCALE_RULES
from core.dtypes.blocks.storage import (
    GROUP_SIZES,
    STORAGE_NAMES,
    Storage,
    find_storage,
    has_group_size,
    has_scale_rule,
)
from core.dtypes.blocks.stored_part import WHERES, Where
from core.figures.dtypes.lab_frame import percent
from core.language import N_, _
from core.units import format_decibels
from pages.dtypes.quantization.chosen import PAGE, Chosen
from pages.shared import pickers

SIZES: Final = (64, 128, 256, 512)
MAX_SEED: Final = 9999
_WHERES: Final = {
    "largest": N_("around the largest value"),
    "worst": N_("where A loses most"),
    "first": N_("the first values"),
}


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Case:
    """All choices of the page: the tensor, both formats, the part looked at, the group size."""

    chosen: Chosen
    pair: tuple[Storage, Storage]
    where: Where
    group: int


def qualities(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Return formats with what they keep and what they cost, as one sentence.

    Args:
        rows: Name, SQNR in dB, bits per value and the share of lost values of each.
    """
    templates = [_("{name}: {sqnr} at {bits} bits per value"), _("{name}: {sqnr} at {bits}")]
    parts = [
        templates[min(place, 1)].format(name=f"`{name}`", sqnr=_kept(sqnr_db), bits=f"{bits:.4g}")
        + lost(share)
        for place, (name, sqnr_db, bits, share) in enumerate(rows)
    ]
    return _("; ").join(parts)


def lost(share: float) -> str:
    """Return how many values came back as NaN or infinity; nothing to say of none or all."""
    if not 0 < share < 1:
        return ""
    return _(" ({share} of the values lost)").format(share=percent(share))


def _kept(sqnr_db: float) -> str:
    return _("nothing left") if math.isnan(sqnr_db) else format_decibels(sqnr_db)


def choose_format(name: str, label: str, default: str) -> str:
    """Show the list of formats and return the name of the chosen one.

    Args:
        name: The setting's name, "a" or "b".
        label: Translated.
        default: The format before anybody chose.
    """
    return pickers.selectbox(PAGE, name, label, STORAGE_NAMES, default=default)


def choose_storages(names: Sequence[str]) -> tuple[tuple[Storage, Storage], int]:
    """Show scale rules and group sizes, as far as they apply; return A and B, and the group."""
    rule = pickers.segmented(
        PAGE,
        "rule",
        _("Scale rule (MX formats)"),
        SCALE_RULES,
        default="floor",
        disabled=not any(map(has_scale_rule, names)),
    )
    group = pickers.select_slider(
        PAGE,
        "group",
        _("Values in a group (formats in groups)"),
        GROUP_SIZES,
        default=128,
        disabled=not any(map(has_group_size, names)),
    )
    first, second = (find_storage(name, rule, group) for name in names)
    return (first, second), group


def choose_sample() -> tuple[int, int]:
    """Show size and seed of the sample tensors and return them."""
    size = pickers.select_slider(PAGE, "size", _("Rows and columns"), SIZES, default=256)
    seed = pickers.number(PAGE, "seed", _("Seed"), 0, MAX_SEED, default=0, step=1)
    return size, seed


def choose_where() -> Where:
    """Show which part of the tensor can be looked at and return the choice."""
    return pickers.selectbox(
        PAGE,
        "where",
        _("Part that is shown"),
        WHERES,
        default="largest",
        labels=lambda key: _(_WHERES[key]),
    )
