"""The bytes of quantized weights: the codes, and the scales that a block of them shares."""

from core.budget.formula import Formula, Number
from core.budget.item import Item, item, total
from core.dtypes.blocks.block_format import BlockFormat
from core.dtypes.format import Format
from core.dtypes.formats import FORMATS
from core.language import N_

CODES = Formula("ceil(num_params * element_bits / 8)")
SCALES = Formula("ceil(num_params / block_size) * scale_bits // 8")
ZERO_POINTS = Formula("ceil(ceil(num_params / block_size) * element_bits / 8)")
SECOND_LEVEL = Formula("ceil(num_params / (block_size * scales_per_block)) * scale_bits // 8")

_SOURCE = N_("one code per parameter and one scale per block; what a whole tensor shares left out")


def quantized_weights(num_params: int, fmt: Format | BlockFormat) -> Item:
    """Return the bytes of weights in a format, part by part: codes, scales, zero points.

    What a whole tensor or a row of it shares (4 bytes in some thousands) is left out, as in
    `BlockFormat.bits_per_value`.

    Args:
        num_params: How many weights.
        fmt: A plain format or a block format.
    """
    element = fmt.element if isinstance(fmt, BlockFormat) else fmt
    sizes: dict[str, Number] = {"num_params": num_params, "element_bits": element.bits}
    parts = [item("codes", CODES, sizes, unit="bytes", source=_SOURCE)]
    if isinstance(fmt, BlockFormat) and isinstance(fmt.block_size, int):
        sizes |= {"block_size": fmt.block_size, "scale_bits": fmt.scale.bits}
        parts.append(item("scales", SCALES, sizes, unit="bytes", source=_SOURCE))
        if not fmt.symmetric:
            parts.append(item("zero points", ZERO_POINTS, sizes, unit="bytes", source=_SOURCE))
        if fmt.double_quant:
            nested = {"scales_per_block": fmt.double_quant, "scale_bits": FORMATS["float32"].bits}
            second = item(
                "scales of the scales", SECOND_LEVEL, sizes | nested, unit="bytes", source=_SOURCE
            )
            parts.append(second)
    return total("weights", parts, source=_SOURCE)
