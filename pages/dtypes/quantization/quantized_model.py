"""What quantization saves: the bytes of 7, 13 and 70 billion weights, scales included."""

from typing import Final

import streamlit as st

from core.budget.weights.stored import quantized_weights
from core.dtypes import FORMATS
from core.figures.weight_bytes import weight_bytes_picture
from core.language import _
from core.units import format_bytes
from pages.dtypes.quantization.chosen import PAGE
from pages.dtypes.quantization.trials import Pair
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import look, unit_system

MODELS: Final = {"7B": 7 * 10**9, "13B": 13 * 10**9, "70B": 70 * 10**9}
REFERENCE: Final = "bfloat16"


def show_bytes(pair: Pair) -> None:
    """Show the weights of three models in both formats and in bfloat16."""
    formats = {storage.name: storage.fmt for storage in pair} | {REFERENCE: FORMATS[REFERENCE]}
    with st.container(key="quant_answer", horizontal=True, vertical_alignment="center"):
        answer = st.container(width="content")
        model = pickers.segmented(PAGE, "model", _("Model"), tuple(MODELS), default="7B")
    items = {
        (size, name): quantized_weights(count, fmt)
        for size, count in MODELS.items()
        for name, fmt in formats.items()
    }
    chosen = {name: items[model, name] for name in formats}
    parts = [
        f"`{name}` {format_bytes(item.amount, unit_system())}" for name, item in chosen.items()
    ]
    with answer:
        headline(_("{model} weights: {parts}").format(model=model, parts=_(", ").join(parts)))
    rows = [(f"{size} · {name}", item) for (size, name), item in items.items()]
    picture, numbers = st.columns([4, 1])
    with picture:
        show_chart(
            weight_bytes_picture(rows, look()),
            key=f"{PAGE}_bytes",
            file_name="quantized-weights",
        )
    with numbers, st.container(key="quant_amounts"):
        for name, item in chosen.items():
            explained_number(name, item)
