"""Python that prints what the headline of a tab says."""

from typing import Final

import streamlit as st

from pages.dtypes.quantization.chosen import PAGE
from pages.dtypes.quantization.inputs import Case
from pages.dtypes.quantization.quantized_model import MODELS
from pages.dtypes.quantization.surveys import rule_format
from pages.shared.settings import unit_system

_FIND: Final = "from core.dtypes.blocks.storage import find_storage"
_QUALITY: Final = """
x = {tensor}
for storage in ({first}, {second}):
    kept = storage.store(x)
    print(f"{{storage.name}}: {{kept.stats.sqnr_db:.1f}} dB at {{storage.bits_per_value:.4g}} bits")
"""
_ERROR: Final = """
x = {tensor}
for storage in ({first}, {second}):
    stats = storage.store(x).stats
    print(f"{{storage.name}}: RMS error {{stats.rmse:.3g}}, largest {{stats.max_abs:.3g}}")
"""
_RULES: Final = """
x = {tensor}
for trial in try_rules(x, BLOCK_FORMATS[{mx!r}]):
    largest = f"{{trial.largest:.4g}} becomes {{trial.largest_restored:.4g}}"
    print(f"{mx}, {{trial.rule}}: {{largest}}, {{trial.stats.sqnr_db:.1f}} dB")
"""
_GROUPS: Final = """
x = {tensor}
for trial in try_sizes(x, ["int8_group128"]):
    print(f"{{trial.size}}: {{trial.sqnr_db:.1f}} dB at {{trial.bits:.4g}} bits")
"""
_BYTES: Final = """
for storage in ({first}, {second}, find_storage("bfloat16")):
    weights = quantized_weights({num_params:_}, storage.fmt)
    print(storage.name, format_bytes(weights.amount, {unit!r}))
"""
# Tab -> (what it imports, what it does).
_TABS: Final = {
    "codes": ((_FIND,), _QUALITY),
    "error": ((_FIND,), _ERROR),
    "standing": ((_FIND,), _QUALITY),
    "rules": (
        (
            "from core.dtypes import BLOCK_FORMATS",
            "from core.dtypes.blocks.storage_trials import try_rules",
        ),
        _RULES,
    ),
    "groups": (("from core.dtypes.blocks.storage_trials import try_sizes",), _GROUPS),
    "nf4": ((_FIND,), _QUALITY),
    "bytes": (
        (
            _FIND,
            "from core.budget.weights.stored import quantized_weights",
            "from core.units import format_bytes",
        ),
        _BYTES,
    ),
}


def snippet(tab: str, case: Case) -> str:
    """Return Python that prints the numbers of the tab's headline, for the same choices."""
    needed, source = _TABS[tab]
    imports = {*needed, *(() if tab == "bytes" else case.chosen.imports)}
    both = [storage.code for storage in case.pair]
    if tab == "nf4":
        both = [f"find_storage({name!r})" for name in ("nf4", "nf4_double_quant")]
    body = source.format(
        tensor=case.chosen.code,
        first=both[0],
        second=both[1],
        mx=rule_format(case.pair),
        num_params=MODELS[st.session_state.get(f"{PAGE}_model_used", "7B")],
        unit=unit_system(),
    )
    return "\n".join(sorted(imports)) + "\n" + body
