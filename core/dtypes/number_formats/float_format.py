"""A floating-point format as data: one row of widths and rules, one codec for all of them."""

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final

import numpy as np

from core.dtypes.exact import Special, to_float
from core.dtypes.number_formats.float_codec import decode_floats, encode_floats
from core.dtypes.number_formats.float_layout import FloatLayout
from core.dtypes.number_formats.format import Codes, Counts, Format
from core.dtypes.rounding import Floats, Overflow, Rounding

# The fields that make a set of numbers, in the order in which a reader would compare two formats.
RULES: Final = tuple(field.name for field in fields(FloatLayout))


@dataclass(frozen=True, kw_only=True)
class FloatFormat(FloatLayout, Format):
    """A layout with a name and a source, and what its codes mean."""

    @property
    def max(self) -> float:
        """The largest finite number."""
        return to_float(self.exact_magnitude(self.max_code))

    @property
    def min(self) -> float:
        """The lowest finite number."""
        return -self.max if self.signed else self.smallest_subnormal

    @property
    def eps(self) -> float:
        """The gap above 1.0, counted as if 1.0 were a normal number."""
        return to_float(Fraction(2) ** max(-self.mantissa_bits, self.min_ulp_exponent))

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number with full precision."""
        return to_float(Fraction(2) ** self.min_exponent)

    @property
    def smallest_subnormal(self) -> float:
        """The smallest positive number; the smallest normal one where there are no subnormals."""
        has_subnormals = self.subnormals and self.zero and self.mantissa_bits > 0
        exponent = self.min_ulp_exponent if has_subnormals else self.min_exponent
        return to_float(Fraction(2) ** exponent)

    def counts(self) -> Counts:
        """Return how many codes mean what."""
        signs = 1 + self.signed
        hidden = 1 << self.mantissa_bits
        below_normal = min(hidden, self.max_code + 1) if self.zero else 0
        flushed = below_normal if not self.subnormals else int(self.zero)
        lost_zero = int(self.signed and not self.negative_zero)
        return Counts(
            zeros=signs * flushed - lost_zero,
            subnormals=signs * (below_normal - flushed),
            normals=signs * (self.max_code + 1 - below_normal),
            infinities=signs * self.infinity,
            nans=signs * self.num_nans + lost_zero,
        )

    def exact(self, code: int) -> Fraction | Special:
        """Return what one code means, without any rounding."""
        magnitude = code & (1 << self.magnitude_bits) - 1
        negative = self.is_negative(code)
        if (negative and magnitude == 0 and not self.negative_zero) or (
            magnitude > self.max_code + self.infinity
        ):
            return "nan"
        if magnitude > self.max_code:
            return "inf"
        value = self.exact_magnitude(magnitude)
        return -value if negative else value

    def exact_magnitude(self, magnitude: int) -> Fraction:
        """Return the number behind exponent and mantissa fields, whatever a special would say."""
        field, mantissa = divmod(magnitude, 1 << self.mantissa_bits)
        if self.zero and field == 0:
            shared = mantissa if self.subnormals else 0
            return shared * Fraction(2) ** self.min_ulp_exponent
        significand = (1 << self.mantissa_bits) + mantissa
        return significand * Fraction(2) ** (field - self.bias - self.mantissa_bits)

    def is_negative(self, code: int) -> bool:
        """Return whether the sign bit is set."""
        return bool(self.signed and code >> self.magnitude_bits)

    def _decode(self, codes: Codes) -> Floats:
        return decode_floats(self, codes)

    def _encode(
        self,
        values: Floats,
        rounding: Rounding,
        overflow: Overflow,
        rng: np.random.Generator | None,
    ) -> Codes:
        return encode_floats(self, values, rounding, overflow, rng)
