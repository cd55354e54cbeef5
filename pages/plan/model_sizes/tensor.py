"""One tensor in every format: famous ones, and a shape that the reader types."""

import math
from typing import Final

import streamlit as st

from core.budget.item import Item
from core.budget.weights.one_tensor import TENSORS, block_bits, read_shape, shape_text, tensor_bytes
from core.figures.weight_bytes import weight_bytes_picture
from core.language import _
from pages.plan.model_sizes.inputs import ASK
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

CODE: Final = """
from math import ceil, prod

num_values = prod({shape})
formats = {{  # bits of a value, values in a block, bits that a block shares
{formats}
}}
for name, (bits, block, shared_bits) in formats.items():
    num_bytes = ceil(num_values * bits / 8) + ceil(num_values / block) * shared_bits // 8
    print(f"{{name:14}} {{num_bytes / 2**30:8.4f}} GiB = {{num_bytes:,}} bytes")
"""
OWN: Final = "own"
DEFAULT_TENSOR: Final = "gpt3_ffn"
FORMATS_SHOWN: Final = (
    *("float64", "float32", "bfloat16", "float8_e4m3fn"),
    *("mxfp8_e4m3", "nvfp4", "int4_group128"),
)
_EXPLAINED: Final = ("float32", "bfloat16", "nvfp4")


def choose_tensor() -> str:
    """Return the key of a famous tensor, or the shape as the reader typed it."""
    key = ASK.selectbox(
        "tensor",
        _("Tensor"),
        (*TENSORS, OWN),
        default=DEFAULT_TENSOR,
        labels=lambda key: _(TENSORS[key].name) if key in TENSORS else _("a shape of my own"),
    )
    if key in TENSORS:
        return key
    return ASK.text("shape", _("Shape"), default="32000 x 4096", max_chars=100)


def tensor(wanted: str) -> Shown:
    """Show the bytes of one tensor; a text that is no shape is told."""
    shape = TENSORS[wanted].shape if wanted in TENSORS else _read(wanted)
    items = {fmt: tensor_bytes(shape, fmt) for fmt in FORMATS_SHOWN}
    picture = weight_bytes_picture(list(items.items()), look())
    return Shown(
        headline=sentence(shape),
        charts=[Chart(picture=picture, file_name="tensor-bytes")],
        numbers=[(fmt, _only_part(items[fmt])) for fmt in _EXPLAINED],
        code=write_code(shape),
    )


def _read(text: str) -> tuple[int, ...]:
    try:
        return read_shape(text)
    except ValueError as error:
        st.error(str(error))
        return TENSORS[DEFAULT_TENSOR].shape


def _only_part(whole: Item) -> Item:
    """Return the codes where there is nothing else: their formula says more than a sum of one."""
    return whole.children[0] if len(whole.children) == 1 else whole


def write_code(shape: tuple[int, ...]) -> str:
    """Return Python that works out the bytes in every format."""
    lines = [f'    "{name}": {block_bits(name)},' for name in FORMATS_SHOWN]
    return CODE.format(shape=shape, formats="\n".join(lines))


def sentence(shape: tuple[int, ...]) -> str:
    """Return the shape, and its bytes in 32 and 16 bits."""
    fp32, bf16 = (
        look().format_bytes(tensor_bytes(shape, fmt).amount) for fmt in ("float32", "bfloat16")
    )
    if math.prod(shape) == 1:
        return _("One number is {fp32} in float32, {bf16} in bfloat16").format(fp32=fp32, bf16=bf16)
    return _("{shape} numbers are {fp32} in float32, {bf16} in bfloat16").format(
        shape=shape_text(shape), fp32=fp32, bf16=bf16
    )
