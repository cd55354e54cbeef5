"""The lab of products: storage in few bits is cheap, sums in few bits are not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs.matmul import MatmulErrors, matmul, normal_matrices
from core.figures.dtypes.low_precision_training.lab_frame import STYLES, LabDrawing
from core.figures.dtypes.written import percent, short
from core.figures.picture import Look, Picture, Table
from core.language import N_, _
from core.units import in_percent
from pages.dtypes.low_precision_training.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

DEPTH: Final = 4096
PRODUCTS: Final = (
    ("float16", "bfloat16"),
    ("float16", "float16"),
    ("float8_e4m3fn", "float32"),
    ("bfloat16", "float32"),
)  # in what matrices are stored, in what sums are kept
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
    a, b = normal_matrices(DEPTHS[-1])
    return tuple(
        matmul(a, b, FORMATS[storage], FORMATS[accumulate], chunk, DEPTHS)
        for accumulate in ACCUMULATORS
    )


def _choose_matmul() -> Asked:
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


def _show_errors(asked: Asked) -> Shown:
    curves = computed(asked.storage, asked.chunk)
    picture = matmul_picture(curves, asked.accumulate, asked.depth, look())
    return Shown(
        headline=_headline(curves, asked.accumulate, asked.depth),
        charts=[Chart(picture=picture, file_name="matmul-errors")],
        code=code_of(asked),
    )


def code_of(asked: Asked) -> str:
    storing, summing = (
        _CASTS.get(name, _CAST).format(name=name) for name in (asked.storage, asked.accumulate)
    )
    return CODE.format(
        storing=storing, summing=summing, depth=asked.depth, chunk=asked.chunk, most=DEPTHS[-1]
    )


def _headline(curves: tuple[MatmulErrors, ...], accumulate: str, depth: int) -> str:
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


_MARKS: Final = [digit * 10.0**power for power in range(-8, 2) for digit in (1, 3)]


def matmul_picture(curves: Sequence[MatmulErrors], chosen: str, depth: int, look: Look) -> Picture:
    """Return one line for each accumulator, the chosen one in bold, and a mark at the depth."""
    drawing, depths = LabDrawing(look=look), curves[0].depths
    marks = [each for each in depths if each.bit_count() == 1]  # all of them would touch
    for curve, (meaning, dash, symbol) in zip(curves, STYLES, strict=False):
        color, bold = look.color(meaning), curve.accumulate == chosen
        drawing.scatter(
            x=list(depths),
            y=list(curve.errors),
            name=_("sums in {format}").format(format=short(curve.accumulate)),
            mode="lines+markers",
            line={"color": color, "dash": dash, "width": 5 if bold else 2.5},
            marker={"symbol": symbol, "size": 11 if bold else 8, "color": color},
            hovertemplate="K = %{x:,}: %{y:.3%}<extra>%{fullData.name}</extra>",
        )
    drawing.shape(
        type="line", x0=depth, x1=depth, xref="x", y0=0, y1=1, yref="y domain",
        line={"color": look.color("text"), "width": 2, "dash": "dot"},
    )  # fmt: skip
    layout = drawing.layout(
        x={
            "title": _("inner dimension K: products in each sum"),
            "type": "log",
            "tickvals": marks,
            "ticktext": [f"{each:,}" for each in marks],
        },
        y={
            "title": _("relative error"),
            "type": "log",
            "tickvals": _MARKS,
            "ticktext": [in_percent(f"{100 * mark:.6g}") for mark in _MARKS],
        },
    )
    return Picture(
        figure=drawing.figure(layout), alt=_sentence(curves, depth), table=_table(curves)
    )


def error_at(curve: MatmulErrors, depth: int) -> float:
    return curve.errors[curve.depths.index(depth)]


def _sentence(curves: Sequence[MatmulErrors], depth: int) -> str:
    parts = [
        _("{error} with sums in {format}").format(
            error=percent(error_at(curve, depth)), format=short(curve.accumulate)
        )
        for curve in curves
    ]
    return _(
        "Relative error of a product of {storage} matrices with inner dimension {depth}: {parts}."
    ).format(storage=short(curves[0].storage), depth=f"{depth:,}", parts=_(", ").join(parts))


def _table(curves: Sequence[MatmulErrors]) -> Table:
    return {
        "K": [f"{depth:,}" for depth in curves[0].depths],
        **{
            _("sums in {format}").format(format=short(curve.accumulate)): [
                f"{error:.3e}" for error in curve.errors
            ]
            for curve in curves
        },
    }


@st.cache_data(max_entries=1, show_spinner=False)
def _product_errors() -> dict[tuple[str, str], float]:
    a, b = normal_matrices(DEPTH)
    return {
        (storage, sums): matmul(a, b, FORMATS[storage], FORMATS[sums]).error
        for storage, sums in PRODUCTS
    }


def _ask_matmul() -> None:
    errors = _product_errors()
    best = min(errors, key=errors.__getitem__)
    named = {
        pair: _("{storage} matrices, sums in {sums}").format(
            storage=short(pair[0]), sums=short(pair[1])
        )
        for pair in errors
    }
    wrong = _("Its error is {error}; the best has {best}.")
    listed = [
        f"{named[pair]} {percent(errors[pair])}" for pair in sorted(errors, key=errors.__getitem__)
    ]
    predict_then_reveal(
        "lowp_best_product",
        _("A product with an inner dimension of {depth}: which of these is the most exact?").format(
            depth=f"{DEPTH:,}"
        ),
        [
            Choice(
                named[pair],
                None
                if pair == best
                else wrong.format(error=percent(errors[pair]), best=percent(errors[best])),
            )
            for pair in PRODUCTS
        ],
        _(
            "{errors}. The bits of the sums decide: FP16 stores eight times as finely as BF16, and "
            "loses all of it where its sums are rounded {depth} times."
        ).format(errors=_("; ").join(listed), depth=f"{DEPTH:,}"),
    )


TAB: Final = Tab(
    label=N_("Matmul"),
    show=_show_errors,
    choose=_choose_matmul,
    question=_ask_matmul,
    reading="matmul",
)
