"""The lab of products: storage in few bits is cheap, sums in few bits are not."""

from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import MatmulErrors, matmul_errors, normal_matrices
from core.figures.dtypes.lab_frame import percent, short
from core.figures.dtypes.low_precision_training.lab_matmul import (
    error_at,
    matmul_alt,
    matmul_figure,
    matmul_table,
)
from core.language import _
from pages.dtypes.low_precision_training.places import PAGE, lab_places
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

STORAGE: Final = ("float16", "bfloat16", "float8_e4m3fn")
ACCUMULATORS: Final = ("float32", "float16", "bfloat16")
CHUNKS: Final = (1, 4, 16, 64)
DEPTHS: Final = (64, 128, 256, 512, 1024, 2048, 4096)
CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.labs import matmul, normal_matrices

a, b = normal_matrices({most})
product = matmul(
    a[:, :{depth}], b[:{depth}], FORMATS[{storage!r}], FORMATS[{accumulate!r}], chunk={chunk}
)
print(f"{{product.error:.3%}}")
"""


@st.cache_data(max_entries=len(STORAGE) * len(CHUNKS), show_spinner=False)
def computed(storage: str, chunk: int) -> tuple[MatmulErrors, ...]:
    """Return the errors over all depths, one curve an accumulator."""
    a, b = normal_matrices(DEPTHS[-1])
    return tuple(
        matmul_errors(a, b, FORMATS[storage], FORMATS[accumulate], chunk, DEPTHS)
        for accumulate in ACCUMULATORS
    )


def show_matmul() -> str:
    """Show the lab and return the code of its number."""
    places = lab_places()
    with places.controls:
        storage = pickers.segmented(
            PAGE, "matmul_storage", _("Matrices are stored in"), STORAGE, default="bfloat16",
            labels=short,
        )  # fmt: skip
        accumulate = pickers.segmented(
            PAGE, "matmul_sums", _("Sums are kept in"), ACCUMULATORS, default="bfloat16",
            labels=short,
        )  # fmt: skip
        chunk = pickers.select_slider(
            PAGE,
            "matmul_chunk",
            _("Products added before a sum is rounded"),
            CHUNKS,
            default=1,
            help=_("A tensor core adds some products exactly, then rounds the running sum once."),
        )
        depth = pickers.select_slider(
            PAGE, "matmul_depth", _("Inner dimension K"), DEPTHS, default=4096,
            labels=lambda k: f"{k:,}",
        )  # fmt: skip
    curves = computed(storage, chunk)
    with places.headline:
        headline(sentence(curves, accumulate, depth))
    with places.picture:
        show_chart(
            matmul_figure(curves, accumulate, depth, theme_mode(), present=presenting()),
            key="lowp_matmul",
            alt=matmul_alt(curves, depth),
            table=matmul_table(curves),
            file_name="matmul-errors",
        )
    return CODE.format(
        most=DEPTHS[-1], depth=depth, storage=storage, accumulate=accumulate, chunk=chunk
    )


def sentence(curves: tuple[MatmulErrors, ...], accumulate: str, depth: int) -> str:
    """Return the error at the chosen depth, beside that of sums in FP32."""
    by_name = {curve.accumulate: curve for curve in curves}
    words = {
        "storage": short(curves[0].storage),
        "format": short(accumulate),
        "depth": f"{depth:,}",
        "error": percent(error_at(by_name[accumulate], depth)),
        "best": percent(error_at(by_name["float32"], depth)),
    }
    if accumulate == "float32":
        text = _("{storage} matrices, sums in FP32: {error} error at K = {depth}, from storage.")
    else:
        text = _(
            "{storage} matrices, sums in {format}: {error} error at K = {depth}; with sums in FP32 "
            "{best}."
        )
    return text.format(**words)
