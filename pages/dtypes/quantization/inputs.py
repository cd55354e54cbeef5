"""What is quantized, and how: a tensor, two formats and their settings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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
from core.dtypes.blocks.stored_part import WHERES, Where
from core.figures.dtypes.written import percent
from core.language import N_, _
from core.units import format_decibels
from pages.dtypes.quantization.tensor import Chosen, choose_tensor, make_tensor
from pages.shared.inputs import Inputs

ASK: Final = Inputs("quant")
SIZES: Final = (64, 128, 256, 512)
MAX_SEED: Final = 9999
FIND: Final = "from core.dtypes.blocks.storage import find_storage"
QUALITY: Final = """
x = {tensor}
for storage in ({first}, {second}):
    kept = storage.store(x)
    print(f"{{storage.name}}: {{kept.stats.sqnr_db:.1f}} dB at {{storage.bits_per_value:.4g}} bits")
"""
_WHERES: Final = {
    "largest": N_("around the largest value"),
    "worst": N_("where A loses most"),
    "first": N_("the first values"),
}
Pair = tuple[Storage, Storage]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Case:
    """All choices of the page: the tensor, both formats, the part looked at, the group size."""

    chosen: Chosen
    pair: Pair
    where: Where
    group: int

    def code(self, body: str, *imports: str, **words: object) -> str:
        """Return Python about this tensor and both formats.

        Args:
            body: With places for `tensor`, `first` and `second`, and for `words`.
            imports: The lines that it needs first, besides those of the tensor.
            words: What else it names; they come before what the case says.
        """
        first, second = (storage.code for storage in self.pair)
        filled = {"tensor": self.chosen.code, "first": first, "second": second} | words
        lines = sorted({*imports, *self.chosen.imports})
        return "\n".join(lines) + "\n" + body.format(**filled)


def choose_case() -> Case:
    """Show the inputs in one row, below it what the tensor needs, and return what was chosen."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tensor = choose_tensor(ASK)
        first = ASK.selectbox("a", _("Format A"), STORAGE_NAMES, default="nvfp4")
        second = ASK.selectbox("b", _("Format B"), STORAGE_NAMES, default="int4_group128")
        with st.popover(
            _("Settings"), icon=":material/tune:", key="quant_settings", width="content"
        ):
            pair, group = _choose_storages((first, second))
            size = ASK.select_slider("size", _("Rows and columns"), SIZES, default=256)
            seed = ASK.number("seed", _("Seed"), 0, MAX_SEED, default=0, step=1)
            where = ASK.selectbox(
                "where",
                _("Part that is shown"),
                WHERES,
                default="largest",
                labels=lambda key: _(_WHERES[key]),
            )
    chosen = make_tensor(ASK, tensor, size, seed)
    return Case(chosen=chosen, pair=pair, where=where, group=group)


def _choose_storages(names: Sequence[str]) -> tuple[Pair, int]:
    """Show scale rules and group sizes, as far as they apply; return A and B, and the group."""
    rule = ASK.segmented(
        "rule",
        _("Scale rule (MX formats)"),
        SCALE_RULES,
        default="floor",
        disabled=not any(map(has_scale_rule, names)),
    )
    group = ASK.select_slider(
        "group",
        _("Values in a group (formats in groups)"),
        GROUP_SIZES,
        default=128,
        disabled=not any(map(has_group_size, names)),
    )
    first, second = (find_storage(name, rule, group) for name in names)
    return (first, second), group


def qualities(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Return formats with what they keep and what they cost, as one sentence.

    Args:
        rows: Name, SQNR in dB, bits per value and the share of lost values of each.
    """
    templates = [_("{name}: {sqnr} at {bits} bits per value"), _("{name}: {sqnr} at {bits}")]
    parts = [
        templates[min(place, 1)].format(
            name=f"`{name}`",
            sqnr=_("nothing left") if math.isnan(sqnr_db) else format_decibels(sqnr_db),
            bits=f"{bits:.4g}",
        )
        + lost(share)
        for place, (name, sqnr_db, bits, share) in enumerate(rows)
    ]
    return _("; ").join(parts)


def lost(share: float) -> str:
    """Return how many values came back as NaN or infinity; nothing to say of none or all."""
    if not 0 < share < 1:
        return ""
    return _(" ({share} of the values lost)").format(share=percent(share))
