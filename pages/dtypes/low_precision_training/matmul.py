"""The lab of products: storage in few bits is cheap, sums in few bits are not."""

from dataclasses import asdict, dataclass
from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import MatmulErrors, matmul_errors, normal_matrices
from core.figures.dtypes.low_precision_training.matmul import error_at, matmul_picture
from core.figures.dtypes.written import percent, short
from core.language import _
from pages.dtypes.low_precision_training.inputs import ASK
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """In which formats a product is stored and summed, and how deep it is."""

    storage: str
    accumulate: str
    chunk: int
    depth: int


@st.cache_data(max_entries=len(STORAGE) * len(CHUNKS), show_spinner=False)
def computed(storage: str, chunk: int) -> tuple[MatmulErrors, ...]:
    """Return the errors over all depths, one curve an accumulator."""
    a, b = normal_matrices(DEPTHS[-1])
    return tuple(
        matmul_errors(a, b, FORMATS[storage], FORMATS[accumulate], chunk, DEPTHS)
        for accumulate in ACCUMULATORS
    )


def choose_matmul() -> Asked:
    """Show the inputs of the lab and return what they say."""
    return Asked(
        storage=ASK.segmented(
            "matmul_storage",
            _("Matrices are stored in"),
            STORAGE,
            default="bfloat16",
            labels=short,
        ),
        accumulate=ASK.segmented(
            "matmul_sums", _("Sums are kept in"), ACCUMULATORS, default="bfloat16", labels=short
        ),
        chunk=ASK.select_slider(
            "matmul_chunk",
            _("Products added before a sum is rounded"),
            CHUNKS,
            default=1,
            help=_("A tensor core adds some products exactly, then rounds the running sum once."),
        ),
        depth=ASK.select_slider(
            "matmul_depth", _("Inner dimension K"), DEPTHS, default=4096, labels="{:,}".format
        ),
    )


def matmul(asked: Asked) -> Shown:
    """Show the error of a product over its inner dimension."""
    curves = computed(asked.storage, asked.chunk)
    picture = matmul_picture(curves, asked.accumulate, asked.depth, look())
    return Shown(
        headline=sentence(curves, asked.accumulate, asked.depth),
        charts=[Chart(picture=picture, file_name="matmul-errors")],
        code=CODE.format(**asdict(asked), most=DEPTHS[-1]),
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
