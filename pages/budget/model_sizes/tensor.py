"""One tensor in every format: famous ones, and a shape that the reader types."""

import math
from typing import Final

from core.budget.catalogue.one_tensor import TENSORS, read_shape, shape_text, tensor_bytes
from core.budget.item import Item
from core.figures.weight_bytes import bytes_alt, bytes_figure, bytes_table
from core.language import _
from core.units import format_bytes
from pages.budget.model_sizes.inputs import PAGE, Case
from pages.shared import pickers
from pages.shared.budget.beside import beside
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

CODE: Final = """
from core.budget.item import Item
from core.budget.catalogue.one_tensor import tensor_bytes

for name in {formats}:
    tensor = tensor_bytes({shape}, name)
    print(f"{{name:14}} {{tensor.amount / 2**30:8.4f}} GiB = {{tensor.amount:,}} bytes")
"""
OWN: Final = "own"
DEFAULT_TENSOR: Final = "gpt3_ffn"
FORMATS_SHOWN: Final = (
    "float64",
    "float32",
    "bfloat16",
    "float8_e4m3fn",
    "mxfp8_e4m3",
    "nvfp4",
    "int4_group128",
)
_EXPLAINED: Final = ("float32", "bfloat16", "nvfp4")


def show_tensor(case: Case) -> str:
    """Show the bytes of one tensor and return Python that prints them."""
    shape = _choose_tensor(case)
    items = {fmt: tensor_bytes(shape, fmt) for fmt in FORMATS_SHOWN}
    rows, unit = list(items.items()), unit_system()
    headline(tensor_headline(shape))
    picture, numbers = beside(f"{PAGE}_tensor")
    with picture:
        show_chart(
            bytes_figure(rows, unit, theme_mode(), present=presenting()),
            key=f"{PAGE}_tensor_bytes",
            alt=bytes_alt(rows, unit),
            table=bytes_table(rows, unit),
            file_name="tensor-bytes",
        )
    with numbers:
        for fmt in _EXPLAINED:
            explained_number(f"`{fmt}`", _only_part(items[fmt]))
    return CODE.format(formats=FORMATS_SHOWN, shape=shape)


def _only_part(tensor: Item) -> Item:
    """Return the codes where there is nothing else: their formula says more than a sum of one."""
    return tensor.children[0] if len(tensor.children) == 1 else tensor


def tensor_headline(shape: tuple[int, ...]) -> str:
    """Return the sentence: the shape, and its bytes in 32 and 16 bits."""
    fp32, bf16 = (
        format_bytes(tensor_bytes(shape, fmt).amount, unit_system())
        for fmt in ("float32", "bfloat16")
    )
    if math.prod(shape) == 1:
        return _("One number is {fp32} in float32, {bf16} in bfloat16").format(fp32=fp32, bf16=bf16)
    return _("{shape} numbers are {fp32} in float32, {bf16} in bfloat16").format(
        shape=shape_text(shape), fp32=fp32, bf16=bf16
    )


def _choose_tensor(case: Case) -> tuple[int, ...]:
    """Return the shape; a text that is no shape becomes a sentence."""
    with case.beside_tabs:
        key = pickers.selectbox(
            PAGE,
            "tensor",
            _("Tensor"),
            (*TENSORS, OWN),
            default=DEFAULT_TENSOR,
            labels=lambda key: _(TENSORS[key].name) if key in TENSORS else _("a shape of my own"),
        )
        if key in TENSORS:
            return TENSORS[key].shape
        text = pickers.text(PAGE, "shape", _("Shape"), default="32000 x 4096", max_chars=100)
    try:
        return read_shape(text)
    except ValueError as error:
        case.messages.error(str(error))
        return TENSORS[DEFAULT_TENSOR].shape
