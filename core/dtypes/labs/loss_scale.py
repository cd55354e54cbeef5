"""Gradients under a loss scale: which become zero, lose bits, stay whole or overflow.

The histogram of log2|g| is made once. A scale of 2**k only shifts the borders between the bands by
-k, and their counts come from gradients that were sorted once: a slider costs microseconds.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.rounding import Floats

BINS_PER_BINADE: Final = 2
NUM_SYNTHETIC: Final = 200_000
SYNTHETIC_STD: Final = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class GradientHistogram:
    """How large the gradients are, whatever the scale.

    Attributes:
        magnitudes: (n,) |g| in rising order, for the counts; zeros lie in no bin.
        edges: (num_bins + 1,) borders of the bins, in log2|g|.
        counts: (num_bins,) gradients in each bin.
    """

    magnitudes: Floats
    edges: Floats
    counts: npt.NDArray[np.int64]

    @property
    def num_gradients(self) -> int:
        """All gradients, zeros counted."""
        return self.magnitudes.size


class Bands(NamedTuple):
    """How many gradients are or become zero, lose bits, keep full precision, and are too large."""

    zero: int
    subnormal: int
    normal: int
    overflow: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GradientBands:
    """What a format keeps of gradients that were multiplied by a loss scale.

    Attributes:
        borders: |g| up to which a gradient becomes zero, from which it keeps all bits of the
            mantissa, and from which it becomes infinity (or NaN, or the largest number).
    """

    format: str
    scale: float
    borders: tuple[float, float, float]
    counts: Bands

    @property
    def shares(self) -> tuple[float, ...]:
        """The counts as shares of all gradients."""
        return tuple(count / sum(self.counts) for count in self.counts)


def synthetic_gradients() -> Floats:
    """Return made-up gradients, N(0, 1e-12), always the same; small as those of a large model."""
    return np.random.default_rng(0).normal(0.0, SYNTHETIC_STD, NUM_SYNTHETIC)


def gradient_histogram(gradients: npt.ArrayLike) -> GradientHistogram:
    """Return the histogram of log2|g|, two bins a binade, of finite gradients of any shape."""
    magnitudes = np.sort(np.abs(np.asarray(gradients, dtype=np.float64)).reshape(-1))
    num_zero = int(np.searchsorted(magnitudes, 0.0, side="right"))
    exponents = np.log2(magnitudes[num_zero:]) if num_zero < magnitudes.size else np.zeros(1)
    low, high = np.floor(exponents[0]), np.floor(exponents[-1]) + 1
    edges = np.linspace(low, high, int(high - low) * BINS_PER_BINADE + 1)
    counts, _edges = np.histogram(exponents[: magnitudes.size - num_zero], edges)
    return GradientHistogram(magnitudes=magnitudes, edges=edges, counts=counts)


def loss_scale_bands(
    histogram: GradientHistogram, fmt: FloatFormat, scale: float = 1.0
) -> GradientBands:
    """Return how many gradients fall into each band, exactly as rounding each of them would say.

    The histogram is that of the gradients without a scale; the backward pass computes in `fmt`; the
    scale is a power of two in practice: then multiplying is exact.

    >>> from core.dtypes import FORMATS
    >>> loss_scale_bands(gradient_histogram([1e-8, 1.0]), FORMATS["float16"], 65536.0).counts
    Bands(zero=0, subnormal=0, normal=1, overflow=1)
    """
    borders, ties = zip(*band_borders(fmt), strict=True)
    zero, normal, overflow = (border / scale for border in borders)
    below = [
        int(np.searchsorted(histogram.magnitudes, border, side="left" if goes_up else "right"))
        for border, goes_up in zip((zero, normal, overflow), ties, strict=True)
    ]
    counts = np.diff([0, *below, histogram.num_gradients]).tolist()
    return GradientBands(
        format=fmt.name, scale=scale, borders=(zero, normal, overflow), counts=Bands(*counts)
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
