"""Whole numbers in two's complement or unsigned binary, and fixed-point numbers made of them."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.dtypes.exact import Special
from core.dtypes.number_formats.format import Codes, Counts, Format
from core.dtypes.rounding import Floats, Overflow, Rng, Rounding, round_magnitudes


@dataclass(frozen=True, kw_only=True)
class IntFormat(Format):
    """An integer format; beyond its range it saturates, whatever the overflow policy asks.

    (Wrapping, or the undefined result of a C cast, is no rounding: `core.dtypes.libraries`
    shows what libraries do.) NaN becomes 0.

    Attributes:
        width: Bits, the sign included.
        signed: Two's complement, or unsigned.
        fraction_bits: Bits after the point: the value is the integer * 2**-fraction_bits.
    """

    width: int
    signed: bool
    fraction_bits: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.width <= 32:
            raise ValueError(f"an integer of {self.width} bits is not supported: use 1 to 32")

    @property
    def bits(self) -> int:
        """Bits of one stored number."""
        return self.width

    @property
    def highest(self) -> int:
        """The largest stored integer."""
        return (1 << self.width - self.signed) - 1

    @property
    def lowest(self) -> int:
        """The lowest stored integer."""
        return -(1 << self.width - 1) if self.signed else 0

    @property
    def max(self) -> float:
        """The largest number."""
        return self.highest * self.eps

    @property
    def min(self) -> float:
        """The lowest number."""
        return self.lowest * self.eps

    @property
    def eps(self) -> float:
        """The gap between all neighbours."""
        return 2.0**-self.fraction_bits

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number: integers have no subnormals."""
        return self.eps

    def counts(self) -> Counts:
        """Return how many codes mean what."""
        return Counts(zeros=1, subnormals=0, normals=self.num_codes - 1, infinities=0, nans=0)

    def exact(self, code: int) -> Fraction | Special:
        """Return what one code means."""
        whole = code - self.num_codes if self.is_negative(code) else code
        return Fraction(whole, 1 << self.fraction_bits)

    def is_negative(self, code: int) -> bool:
        """Return whether the sign bit is set."""
        return bool(self.signed and code >> self.width - 1)

    def _decode(self, codes: Codes) -> Floats:
        whole = codes.astype(np.int64)
        if self.signed:
            whole = np.where(whole > self.highest, whole - self.num_codes, whole)
        return whole.astype(np.float64) * self.eps

    # There is nothing but the largest number to go to, whatever the overflow policy.
    def _encode(self, values: Floats, rounding: Rounding, _overflow: Overflow, rng: Rng) -> Codes:
        negative = np.signbit(values)
        # Clipped first: an infinity cannot be rounded. The clip itself lies on whole numbers.
        scaled = np.clip(np.nan_to_num(values, nan=0.0) / self.eps, self.lowest, self.highest)
        whole = np.copysign(round_magnitudes(np.abs(scaled), negative, rounding, rng), scaled)
        return (whole.astype(np.int64) & (self.num_codes - 1)).astype(self.code_dtype)
