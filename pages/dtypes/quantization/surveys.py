"""The same tensor in many ways: all formats, all scale rules, all group sizes, and NF4."""

import math
from dataclasses import replace
from typing import Final

import streamlit as st

from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.blocks.block_layout import PER_TENSOR
from core.dtypes.blocks.gguf_formats import GGUF_FORMATS
from core.dtypes.blocks.nf4 import CodeUse, make_code_use
from core.dtypes.blocks.storage import find_storage, has_scale_rule
from core.dtypes.blocks.storage_trials import (
    RuleTrial,
    Trial,
    try_all,
    try_rules,
    try_sizes,
)
from core.dtypes.rounding import Floats
from core.figures.dtypes.quantization.nf4 import nf4_picture
from core.figures.dtypes.quantization.scales import groups_picture, rules_picture
from core.figures.dtypes.quantization.standing import standing_picture
from core.language import _
from core.units import format_decibels
from pages.dtypes.quantization.inputs import Case, Pair, error_notes, qualities
from pages.dtypes.quantization.snippets import groups_code, quality_code, tensor_lines
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

ALWAYS_TRIED: Final = (
    *BLOCK_FORMATS,
    *GGUF_FORMATS,
    *("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
)
MX_NAMES: Final = tuple(name for name in BLOCK_FORMATS if has_scale_rule(name))
_NF4: Final = ("nf4", "nf4_double_quant")
_RULES: Final = """
for trial in try_rules(x, BLOCK_FORMATS[{mx!r}]):
    largest = f"{{trial.largest:.4g}} becomes {{trial.largest_restored:.4g}}"
    scale = f"2^{{trial.largest_exponent}}"
    print(f"{mx}, {{trial.rule}}, {{scale}}: {{largest}}, {{trial.stats.sqnr_db:.1f}} dB")
"""
sizes_of = st.cache_data(max_entries=16, show_spinner=False)(try_sizes)


@st.cache_data(max_entries=16, show_spinner=False)
def always_tried(x: Floats) -> tuple[Trial, ...]:
    """Return size and quality of the formats as they are listed; no slider changes them."""
    return try_all(x, [find_storage(name) for name in ALWAYS_TRIED])


@st.cache_data(max_entries=32, show_spinner=False)
def standing_of(x: Floats, pair: Pair) -> tuple[Trial, ...]:
    """Return size and quality of all formats, A and B as they are set among them."""
    chosen = try_all(x, list(dict.fromkeys(pair)))
    names = {trial.name for trial in chosen}
    return (*chosen, *(trial for trial in always_tried(x) if trial.name not in names))


def standing(case: Case) -> Shown:
    """Show quality against size for all formats."""
    with st.spinner(_("Trying every format on this tensor…")):
        trials = standing_of(case.chosen.x, case.pair)
    first, second = (storage.name for storage in case.pair)
    found = {trial.name: trial for trial in trials}
    shown = [found[name] for name in dict.fromkeys((first, second))]
    picture = standing_picture(trials, (first, second), look())
    return Shown(
        headline=qualities(shown),
        charts=[Chart(picture=picture, file_name="sqnr-against-bits")],
        notes=[*case.chosen.notes(), *error_notes(shown)],
        code=quality_code(case, is_whole=all(trial.is_whole for trial in shown)),
    )


@st.cache_data(max_entries=32, show_spinner=False)
def rules_of(x: Floats, name: str) -> tuple[RuleTrial, ...]:
    """Return what the four scale rules make of the tensor in an MX format."""
    return try_rules(x, BLOCK_FORMATS[name])


def rules(case: Case) -> Shown:
    """Show what the four scale rules do to an MX format: A, B, or the first if they are none."""
    name = next((each.name for each in case.pair if each.name in MX_NAMES), MX_NAMES[0])
    trials = rules_of(case.chosen.x, name)
    found = {trial.rule: trial for trial in trials}
    said = _(
        "{name}: scaled by 2^{floor_scale} (`floor`), the largest value {largest} becomes {floor} "
        "({floor_db}); by 2^{rceil_scale} (`rceil`), {rceil} ({rceil_db})"
    ).format(
        name=f"`{name}`",
        largest=f"{found['floor'].largest:.4g}",
        floor_scale=found["floor"].largest_exponent,
        floor=f"{found['floor'].largest_restored:.4g}",
        floor_db=format_decibels(found["floor"].stats.sqnr_db),
        rceil_scale=found["rceil"].largest_exponent,
        rceil=f"{found['rceil'].largest_restored:.4g}",
        rceil_db=format_decibels(found["rceil"].stats.sqnr_db),
    )
    return Shown(
        headline=said,
        charts=[Chart(picture=rules_picture(trials, look()), file_name="scale-rules")],
        notes=case.chosen.notes(),
        code=tensor_lines(
            case.chosen,
            "from core.dtypes import BLOCK_FORMATS",
            "from core.dtypes.blocks.storage_trials import try_rules",
        )
        + _RULES.format(mx=name),
    )


def groups(case: Case) -> Shown:
    """Show quality over the number of values that share a scale."""
    with st.spinner(_("Trying every group size on this tensor…")):
        trials = sizes_of(case.chosen.x)
    found = {(trial.family, trial.size): trial for trial in trials}
    whole = found["int8_group128", PER_TENSOR]
    group = found["int8_group128", case.group]
    said = _(
        "int8: SQNR {whole} with one scale for the tensor, {group} in groups of {size} "
        "at {bits} bits per value"
    ).format(
        whole=format_decibels(whole.sqnr_db),
        group=format_decibels(group.sqnr_db),
        size=case.group,
        bits=f"{group.bits:.4g}",
    )
    return Shown(
        headline=said,
        charts=[Chart(picture=groups_picture(trials, case.group, look()), file_name="group-sizes")],
        notes=case.chosen.notes(),
        code=groups_code(case, is_whole=math.isfinite(whole.sqnr_db + group.sqnr_db)),
    )


@st.cache_data(max_entries=16, show_spinner=False)
def code_use_of(x: Floats) -> tuple[CodeUse, tuple[Trial, ...]]:
    """Return how NF4 and int4 use their codes, and NF4 with plain and with quantized scales."""
    return make_code_use(x), try_all(x, [find_storage(name) for name in _NF4])


def nf4(case: Case) -> Shown:
    """Show where the codes of NF4 come from, how they are used, and double quantization."""
    use, (plain, double) = code_use_of(case.chosen.x)
    said = _(
        "NF4: SQNR {plain} at {plain_bits} bits per value; with double quantization {double} "
        "at {double_bits}"
    ).format(
        plain=format_decibels(plain.sqnr_db),
        plain_bits=f"{plain.bits:.4g}",
        double=format_decibels(double.sqnr_db),
        double_bits=f"{double.bits:.4g}",
    )
    note = _(
        "A block of 64 adds 32 bits for its scale: 4 + 32/64 = 4.5. Stored twice, the scale "
        "takes 8 bits, and 256 scales share 32 more: 4 + 8/64 + 32/(64 × 256) = 4.127."
    )
    pair = find_storage(_NF4[0]), find_storage(_NF4[1])
    return Shown(
        headline=said,
        charts=[Chart(picture=nf4_picture(use, look()), file_name="nf4")],
        notes=[note, *case.chosen.notes()],
        code=quality_code(replace(case, pair=pair), is_whole=plain.is_whole and double.is_whole),
    )
