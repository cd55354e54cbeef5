"""From values and the scale of their block to codes."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.block_scales import Blocks
from core.dtypes.blocks.quantized import Scales
from core.dtypes.blocks.scale_rules import top_gap
from core.dtypes.blocks.single import ratio
from core.dtypes.format import Codes
from core.dtypes.rounding import Flags, Floats, Rounding, round_magnitudes
from core.language import _

if TYPE_CHECKING:
    from core.dtypes.blocks.block_format import BlockFormat


def as_single(x: npt.ArrayLike) -> Blocks:
    """Return real numbers as float32; what is beyond float32 becomes infinite.

    Raises:
        ValueError: If they are not real numbers.
    """
    array = np.asarray(x)
    if array.dtype.kind not in "fiub":
        raise ValueError(
            _("A tensor of {dtype} cannot be quantized: use real numbers.").format(
                dtype=array.dtype
            )
        )
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def encode_blocks(
    fmt: "BlockFormat",
    blocks: Blocks,
    scales: Scales,
    rounding: Rounding,
    rng: np.random.Generator | None,
) -> tuple[Codes, Flags]:
    """Return the codes of values given as (rows, blocks, values per block), and what is clipped."""
    # Multiplied by an inverse of float32, and rounded to float32, as torchao and bitsandbytes do:
    # now and then that is the neighbour of the quotient's code.
    unit = 1.0 if scales.tensor_scale is None else scales.tensor_scale
    factors = ratio(ratio(1.0, unit), scales.divisors)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (blocks * factors[..., None]).astype(np.float32).astype(np.float64)
    if scales.zero_points is not None:
        return _encode_affine(fmt, scaled, scales.zero_points[..., None], rounding, rng)
    top = fmt.element.max
    clipped = np.abs(scaled) > top + top_gap(fmt.element) / 2
    codes = fmt.element.encode(np.clip(scaled, -top, top), rounding, "saturate", rng)
    return codes, clipped


def _encode_affine(
    fmt: "BlockFormat",
    scaled: Floats,
    zero_points: npt.NDArray[np.int64],
    rounding: Rounding,
    rng: np.random.Generator | None,
) -> tuple[Codes, Flags]:
    """Round first and move by the zero point afterwards: a tie is one of the scaled value."""
    lost = ~np.isfinite(scaled)
    scaled = np.where(lost, 0.0, scaled)
    whole = np.copysign(round_magnitudes(np.abs(scaled), np.signbit(scaled), rounding, rng), scaled)
    moved = np.where(lost, 0.0, whole + zero_points)
    top = fmt.element.max
    codes = np.clip(moved, 0, top).astype(fmt.element.code_dtype)
    return codes, (moved < 0) | (moved > top)
