"""Double quantization: the scales of the blocks become codes, with scales of their own."""

from dataclasses import dataclass

import numpy as np

from core.dtypes.blocks.quantized import NestedScales
from core.dtypes.blocks.single import ratio, to_single
from core.dtypes.format import Codes, Format
from core.dtypes.rounding import Floats


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class StoredScales:
    """Scales that are stored a second time.

    Attributes:
        codes: One code per scale.
        restored: What the codes stand for.
        nested: The scales of the scales, and the offset.
    """

    codes: Codes
    restored: Floats
    nested: NestedScales


def store_scales(
    amax: Floats, codebook: Format, block_size: int, offset: float | None = None
) -> StoredScales:
    """Return scales as codes of their distance from their mean.

    Blocks of scales run through the whole tensor, row after row. A NaN among the scales makes the
    mean NaN, and so every scale.
    Source: bitsandbytes 0.50.2, quantize_4bit(compress_statistics=True). The QLoRA paper, section
    3, writes FP8 for this second level; its code takes the 8-bit dynamic codebook, and so do we.

    Args:
        amax: The largest magnitude of each block of values, any shape.
        codebook: The format of the codes.
        block_size: Scales that share a scale.
        offset: What is subtracted first; the mean of `amax`, rounded to float32, if None.
    """
    if offset is None:
        offset = float(to_single(np.mean(amax))) if amax.size else 0.0
    centred = to_single(amax - offset).reshape(-1)
    blocks = np.pad(centred, (0, -centred.size % block_size)).reshape(-1, block_size)
    scales = np.abs(blocks).max(axis=-1, initial=0)
    codes = codebook.encode(to_single(blocks * ratio(1.0, scales)[:, None]))
    restored = to_single(to_single(codebook.decode(codes) * scales[:, None]) + offset)
    return StoredScales(
        codes=codes.reshape(-1)[: amax.size].reshape(amax.shape),
        restored=restored.reshape(-1)[: amax.size].reshape(amax.shape),
        nested=NestedScales(block_size=block_size, scales=scales, offset=offset),
    )
