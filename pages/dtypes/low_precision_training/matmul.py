"""The lab of products: storage in few bits is cheap, sums in few bits are not."""

from dataclasses import dataclass
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
CHUNKS: Final = (1, 2, 4, 8, 16, 32, 64)
DEPTHS: Final = (64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
# numpy rounds to these two itself; torch rounds float64 to the others.
_CASTS: Final = dict.fromkeys(("float16", "float32"), "x.astype(np.{name}).astype(float)")
_CAST: Final = "torch.tensor(x).to(torch.{name}).double().numpy()"
CODE: Final = """
import numpy as np
import torch


def stored(x):
    return {storing}


def summed(x):
    return {summing}


rng = np.random.default_rng(0)
a = rng.normal(size=(16, {most}))[:, :{depth}]
b = rng.normal(size=({most}, 16))[:{depth}]
left, right, total = stored(a), stored(b), np.zeros((16, 16))
for k in range(0, {depth}, {chunk}):
    total = summed(total + left[:, k : k + {chunk}] @ right[k : k + {chunk}])
error = np.linalg.norm(stored(total) - a @ b) / np.linalg.norm(a @ b)
print(f"{{100 * error:.3g}} %")
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
        depth=ASK.select_slider(
            "matmul_depth", _("Inner dimension K"), DEPTHS, default=4096, labels="{:,}".format
        ),
        chunk=ASK.select_slider(
            "matmul_chunk",
            _("Chunk length"),
            CHUNKS,
            default=1,
            help=_(
                "Products that are added exactly before the running sum is rounded once, as in "
                "a tensor core."
            ),
        ),
        storage=ASK.segmented(
            "matmul_storage", _("Storage format"), STORAGE, default="bfloat16", labels=short
        ),
        accumulate=ASK.segmented(
            "matmul_sums", _("Accumulator"), ACCUMULATORS, default="bfloat16", labels=short
        ),
    )


def matmul(asked: Asked) -> Shown:
    """Show the error of a product over its inner dimension."""
    curves = computed(asked.storage, asked.chunk)
    picture = matmul_picture(curves, asked.accumulate, asked.depth, look())
    return Shown(
        headline=sentence(curves, asked.accumulate, asked.depth),
        charts=[Chart(picture=picture, file_name="matmul-errors")],
        code=code_of(asked),
    )


def code_of(asked: Asked) -> str:
    """Return Python for the error of the product."""
    storing, summing = (
        _CASTS.get(name, _CAST).format(name=name) for name in (asked.storage, asked.accumulate)
    )
    return CODE.format(
        storing=storing, summing=summing, depth=asked.depth, chunk=asked.chunk, most=DEPTHS[-1]
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
