"""What the tabs of the quantization page show, computed once for the same tensor and formats.

The results are data: pictures are drawn, and words chosen, afterwards.
"""

from typing import Final

import streamlit as st

from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.blocks.nf4 import CodeUse, make_code_use
from core.dtypes.blocks.storage import Storage, find_storage
from core.dtypes.blocks.storage_trials import (
    Loss,
    RuleTrial,
    SizeTrial,
    Trial,
    make_losses,
    try_all,
    try_rules,
    try_sizes,
)
from core.dtypes.blocks.stored_part import Side, Where, make_sides
from core.dtypes.rounding import Floats

Pair = tuple[Storage, Storage]
ALWAYS_TRIED: Final = (
    *BLOCK_FORMATS,
    *("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
)


@st.cache_data(max_entries=32, show_spinner=False)
def sides_of(
    x: Floats, pair: Pair, where: Where, num_rows: int, num_columns: int
) -> tuple[Side, ...]:
    """Return one part of the tensor in both formats."""
    return make_sides(x, pair, where, num_rows=num_rows, num_columns=num_columns)


@st.cache_data(max_entries=32, show_spinner=False)
def losses_of(x: Floats, pair: Pair) -> tuple[Loss, ...]:
    """Return what both formats lose."""
    return make_losses(x, pair)


@st.cache_data(max_entries=32, show_spinner=False)
def standing_of(x: Floats, pair: Pair) -> tuple[Trial, ...]:
    """Return size and quality of all formats, A and B as they are set among them."""
    storages = [find_storage(name) for name in ALWAYS_TRIED]
    others = [each for each in storages if each.name not in {storage.name for storage in pair}]
    return try_all(x, list(dict.fromkeys([*pair, *others])))


@st.cache_data(max_entries=32, show_spinner=False)
def rules_of(x: Floats, name: str) -> tuple[RuleTrial, ...]:
    """Return what the four scale rules make of the tensor in an MX format."""
    return try_rules(x, BLOCK_FORMATS[name])


@st.cache_data(max_entries=16, show_spinner=False)
def sizes_of(x: Floats) -> tuple[SizeTrial, ...]:
    """Return every group size."""
    return try_sizes(x)


@st.cache_data(max_entries=16, show_spinner=False)
def code_use_of(x: Floats) -> tuple[CodeUse, tuple[Trial, ...]]:
    """Return how NF4 and int4 use their codes, and NF4 with plain and with quantized scales."""
    nf4 = [find_storage("nf4"), find_storage("nf4_double_quant")]
    return make_code_use(x), try_all(x, nf4)
