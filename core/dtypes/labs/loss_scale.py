"""Gradients under a loss scale: which become zero, lose bits, stay whole or overflow.

The histogram of log2|g| is made once. A scale of 2**k only shifts the borders between the bands by
-k, and their counts come from gradients that were sorted once: a slider costs microseconds.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.rounding import Floats
from core.language import _

BINS_PER_BINADE: Final = 2
NUM_SYNTHETIC: Final = 200_000
SYNTHETIC_STD: Final = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class GradientHistogram:
    """How large the gradients are, whatever the scale.

    Attributes:
        magnitudes: (n,) |g| in rising order, for the counts.
        edges: (num_bins + 1,) borders of the bins, in log2|g|.
        counts: (num_bins,) gradients in each bin.
        num_zero: Gradients that are zero themselves; they lie in no bin.
    """

    magnitudes: Floats
    edges: Floats
    counts: npt.NDArray[np.int64]
    num_zero: int

    @property
    def num_gradients(self) -> int:
        """All gradients, zeros counted."""
        return self.magnitudes.size


@dataclass(frozen=True, kw_only=True, slots=True)
class GradientBands:
    """What a format keeps of gradients that were multiplied by a loss scale.

    Attributes:
        format: Name of the format.
        scale: The loss scale.
        zero_below: |g| up to which a gradient becomes zero.
        normal_from: |g| from which it keeps all bits of the mantissa.
        overflow_from: |g| from which it becomes infinity (or NaN, or the largest number).
        num_zero: Gradients that are or become zero.
        num_subnormal: Gradients that lose bits.
        num_normal: Gradients that keep full precision.
        num_overflow: Gradients beyond the largest number.
    """

    format: str
    scale: float
    zero_below: float
    normal_from: float
    overflow_from: float
    num_zero: int
    num_subnormal: int
    num_normal: int
    num_overflow: int

    @property
    def num_gradients(self) -> int:
        """All gradients."""
        return self.num_zero + self.num_subnormal + self.num_normal + self.num_overflow

    def share(self, count: int) -> float:
        """Return a count as a share of all gradients."""
        return count / self.num_gradients


def synthetic_gradients(num_gradients: int = NUM_SYNTHETIC, std: float = SYNTHETIC_STD) -> Floats:
    """Return made-up gradients, N(0, std**2), always the same; small as those of a large model."""
    return np.random.default_rng(0).normal(0.0, std, num_gradients)


def gradient_histogram(gradients: npt.ArrayLike) -> GradientHistogram:
    """Return the histogram of log2|g|, two bins a binade.

    Args:
        gradients: Any shape; finite.

    Raises:
        ValueError: If there are none, or one is infinite or NaN.
    """
    magnitudes = np.sort(np.abs(np.asarray(gradients, dtype=np.float64)).reshape(-1))
    if magnitudes.size == 0 or not np.isfinite(magnitudes[-1]):
        raise ValueError(
            _("A histogram needs at least one gradient, and no infinity or NaN among them.")
        )
    num_zero = int(np.searchsorted(magnitudes, 0.0, side="right"))
    exponents = np.log2(magnitudes[num_zero:]) if num_zero < magnitudes.size else np.zeros(1)
    low, high = np.floor(exponents[0]), np.floor(exponents[-1]) + 1
    edges = np.linspace(low, high, int(high - low) * BINS_PER_BINADE + 1)
    counts, _edges = np.histogram(exponents[: magnitudes.size - num_zero], edges)
    return GradientHistogram(magnitudes=magnitudes, edges=edges, counts=counts, num_zero=num_zero)


def loss_scale_bands(
    histogram: GradientHistogram, fmt: FloatFormat, scale: float = 1.0
) -> GradientBands:
    """Return how many gradients fall into each band, exactly as rounding each of them would say.

    Args:
        histogram: Of the gradients without a scale.
        fmt: The format in which the backward pass computes.
        scale: The loss scale, a power of two in practice: then multiplying is exact.

    Raises:
        ValueError: If the scale is not a positive number.

    >>> from core.dtypes import FORMATS
    >>> bands = loss_scale_bands(gradient_histogram([1e-8, 1.0]), FORMATS["float16"], 65536.0)
    >>> bands.num_zero, bands.num_normal, bands.num_overflow
    (0, 1, 1)
    """
    if not (np.isfinite(scale) and scale > 0):
        raise ValueError(
            _("The loss scale is {scale}; it must be a positive number, such as 65536.").format(
                scale=scale
            )
        )
    borders, ties = zip(*band_borders(fmt), strict=True)
    zero, normal, overflow = (border / scale for border in borders)
    below = [
        int(np.searchsorted(histogram.magnitudes, border, side="left" if goes_up else "right"))
        for border, goes_up in zip((zero, normal, overflow), ties, strict=True)
    ]
    return GradientBands(
        format=fmt.name,
        scale=scale,
        zero_below=zero,
        normal_from=normal,
        overflow_from=overflow,
        num_zero=below[0],
        num_subnormal=below[1] - below[0],
        num_normal=below[2] - below[1],
        num_overflow=histogram.num_gradients - below[2],
    )


def band_borders(fmt: FloatFormat) -> tuple[tuple[float, bool], ...]:
    """Return the borders zero | subnormal | normal | overflow, and whether a tie goes up.

    A border is the middle between two neighbours: there rounding to nearest changes its mind.
    """
    first_step, last_step = (
        2.0 ** (exponent - fmt.mantissa_bits) for exponent in (fmt.min_exponent, fmt.max_exponent)
    )
    below_normal = fmt.smallest_normal - first_step
    pairs = (
        # Without subnormals, everything up to the rounding border below the normal numbers is lost.
        (0.0, first_step) if fmt.subnormals else (below_normal, fmt.smallest_normal),
        (below_normal, fmt.smallest_normal),
        (fmt.max, fmt.max + last_step),
    )
    borders = [low + (high - low) / 2 for low, high in pairs]
    # Written so that NaN, the overflow of some formats, counts as up.
    ties = [
        not result <= low
        for result, (low, _high) in zip(fmt.round(borders).tolist(), pairs, strict=True)
    ]
    return tuple(zip(borders, ties, strict=True))
