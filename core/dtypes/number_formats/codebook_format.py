"""A format that is a list: each code stands for one number, wherever it was found.

Two such lists are NF4, in which weights are stored, and the 8-bit dynamic codebook, in which
bitsandbytes stores the scales of NF4 a second time.
"""

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.exact import Special
from core.dtypes.number_formats.format import Codes, Counts, Format
from core.dtypes.rounding import Flags, Floats, Overflow, Rng, Rounding, chances

# The outermost share of NF4 as the authors' code has it: 1 - (1/32 + 1/30) / 2, seven digits of it.
NF4_OFFSET: Final = 0.9677083
_DECADES: Final = 7  # the leading zeros of a code count powers of ten: 1e-6 to 1


@dataclass(frozen=True, kw_only=True)
class CodebookFormat(Format):
    """A code is the place of its number in `values`, which ascend; beyond the ends it saturates.

    NaN, which no code stands for, becomes zero.
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        is_power = len(self.values) >= 2 and len(self.values).bit_count() == 1
        if not is_power or list(self.values) != sorted(set(self.values)):
            raise ValueError("a codebook holds 2, 4, 8, ... different numbers in ascending order")

    @property
    def bits(self) -> int:
        """Bits of one code."""
        return len(self.values).bit_length() - 1

    @property
    def max(self) -> float:
        """The largest number."""
        return self.values[-1]

    @property
    def min(self) -> float:
        """The lowest number."""
        return self.values[0]

    @property
    def eps(self) -> float:
        """The gap below the largest number: a codebook that ends at 1.0 has none above it."""
        return self.values[-1] - self.values[-2]

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number; a codebook has no subnormals."""
        return min(value for value in self.values if value > 0)

    def counts(self) -> Counts:
        """Return how many codes mean what."""
        zeros = self.values.count(0.0)
        return Counts(
            zeros=zeros, subnormals=0, normals=len(self.values) - zeros, infinities=0, nans=0
        )

    def exact(self, code: int) -> Fraction | Special:
        """Return what one code means."""
        return Fraction(self.values[code])

    def is_negative(self, code: int) -> bool:
        """Return whether the number is below zero."""
        return self.values[code] < 0

    def _decode(self, codes: Codes) -> Floats:
        return np.asarray(self.values)[codes]

    # There is nothing but the largest number to go to, whatever the overflow policy.
    def _encode(self, values: Floats, rounding: Rounding, _overflow: Overflow, rng: Rng) -> Codes:
        table = np.asarray(self.values)
        clipped = np.clip(np.nan_to_num(values, nan=0.0), table[0], table[-1])
        lower = np.searchsorted(table, clipped, side="right") - 1
        upper = np.minimum(lower + 1, table.size - 1)
        step = np.where(upper > lower, table[upper] - table[lower], 1.0)
        above = (clipped - table[lower]) / step  # 0 at the lower neighbour, 1 at the upper
        goes_up = self._goes_up(clipped, above, rounding, rng)
        return np.where(goes_up, upper, lower).astype(self.code_dtype)

    def _goes_up(self, values: Floats, above: Floats, rounding: Rounding, rng: Rng) -> Flags:
        if rounding == "stochastic":
            return chances(rng, values.shape) < above
        between = above > 0
        return {
            # A code has no parity that means anything: a tie goes to the lower code, as in QLoRA.
            "nearest_even": above > 0.5,
            "nearest_away": np.where(values < 0, above > 0.5, above >= 0.5),
            "toward_zero": between & (values < 0),
            "up": between,
            "down": np.zeros_like(between),
        }[rounding]


def nf4_shares(num_values: int) -> tuple[float, ...]:
    """Return the shares of the normal distribution whose quantiles are one side of NF4.

    From the outermost to just before 1/2, evenly spaced in float32, counted from the nearer end:
    so did the authors' code (torch.linspace), and the last bit of the table depends on it.
    """
    start, end = np.float32(NF4_OFFSET), np.float32(0.5)
    step = (end - start) / np.float32(num_values)
    half = (num_values + 1) // 2
    from_start = [start + step * np.float32(place) for place in range(half)]
    from_end = [end - step * np.float32(num_values - place) for place in range(half, num_values)]
    return tuple(float(share) for share in (*from_start, *from_end))


def nf4_values() -> tuple[float, ...]:
    """Return the 16 numbers of NF4: quantiles of N(0, 1), 7 below zero, zero and 8 above, / max.

    Source: Dettmers et al. 2023, QLoRA, section 3 and appendix E; arithmetic in float32, as in the
    authors' code.
    """
    normal = NormalDist()
    negative = [-normal.inv_cdf(share) for share in nf4_shares(7)]
    positive = [normal.inv_cdf(share) for share in reversed(nf4_shares(8))]
    quantiles = np.array([*negative, 0.0, *positive], dtype=np.float32)
    return tuple(float(value) for value in quantiles / quantiles.max())


def decade_means(num_means: int) -> npt.NDArray[np.float32]:
    """Return the middles of equal steps from 0.1 to 1, in float32 as the authors' code has them.

    Torch's linspace counts from the nearer end, and rounds once where it multiplies and adds (a
    fused multiply-add; float64 holds the product here): the last bits of the table depend on both.
    """
    start, end = np.float32(0.1), np.float32(1)
    step = np.float64((end - start) / np.float32(num_means))
    places = np.arange(num_means + 1, dtype=np.float64)
    from_start, from_end = start + step * places, end - step * (num_means - places)
    bounds = np.where(places < (num_means + 1) // 2, from_start, from_end).astype(np.float32)
    return (bounds[:-1] + bounds[1:]) / np.float32(2)


def dynamic_values() -> tuple[float, ...]:
    """Return the 256 numbers of the signed dynamic codebook, ascending.

    Each decade has twice as many numbers as the one below it: 1 within (1e-7, 1e-6], 64 within
    (0.1, 1], on both sides of zero; zero and 1 itself complete them.
    Source: Dettmers 2016, 8-Bit Approximations for Parallelism in Deep Learning, section 2;
    bitsandbytes 0.50.2, create_dynamic_map.
    """
    positive = [
        float(mean)
        for decade in range(_DECADES)
        for mean in np.float32(10.0 ** (decade - _DECADES + 1)) * decade_means(2**decade)
    ]
    return tuple(sorted([*positive, *(-value for value in positive), 0.0, 1.0]))


DYNAMIC8: Final = CodebookFormat(
    name="dynamic8",
    values=dynamic_values(),
    source="Dettmers 2016, 8-Bit Approximations for Parallelism in Deep Learning, section 2",
)
