"""A floating-point format as data: one row of widths and rules, one codec for all of them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from core.dtypes.exact import Special, to_float
from core.dtypes.float_codec import decode_floats, encode_floats
from core.dtypes.float_layout import check_layout, check_specials
from core.dtypes.format import Codes, Counts, Format
from core.dtypes.rounding import Floats, Overflow, Rounding

# The fields that make a set of numbers, in the order in which a reader would compare two formats.
RULES: Final = (
    "exponent_bits",
    "mantissa_bits",
    "bias",
    "signed",
    "infinity",
    "num_nans",
    "negative_zero",
    "zero",
    "subnormals",
)


@dataclass(frozen=True, kw_only=True)
class FloatFormat(Format):
    """Sign, exponent and mantissa; the value of a code is (-1)^s * 2^(E - bias) * 1.mantissa.

    Attributes:
        exponent_bits: Width of the exponent field; 0 makes a fixed-point format.
        mantissa_bits: Width of the mantissa field, without the hidden bit.
        bias: What is subtracted from the exponent field.
        signed: Whether there is a sign bit.
        infinity: Whether the code after the largest finite number is infinity.
        num_nans: NaN codes at the top of each sign; IEEE has 2**mantissa_bits - 1.
        negative_zero: False turns the code of -0 into a NaN (the "uz" of FNUZ).
        zero: False makes the lowest exponent field an ordinary binade (E8M0 has no zero).
        subnormals: False flushes to zero what would be smaller than the smallest normal number.
    """

    exponent_bits: int
    mantissa_bits: int
    bias: int
    signed: bool = True
    infinity: bool = True
    num_nans: int = -1  # -1: as IEEE
    negative_zero: bool = True
    zero: bool = True
    subnormals: bool = True

    def __post_init__(self) -> None:
        check_layout(self)
        if self.num_nans == -1:
            object.__setattr__(self, "num_nans", (1 << self.mantissa_bits) - 1)
        check_specials(self)

    @property
    def bits(self) -> int:
        """Bits of one stored number: sign, exponent and mantissa."""
        return self.signed + self.exponent_bits + self.mantissa_bits

    @property
    def magnitude_bits(self) -> int:
        """Bits without the sign."""
        return self.exponent_bits + self.mantissa_bits

    @property
    def max_code(self) -> int:
        """The code of the largest finite number."""
        return (1 << self.magnitude_bits) - 1 - self.num_nans - self.infinity

    @property
    def infinity_code(self) -> int | None:
        """The code of plus infinity, if the format has one."""
        return self.max_code + 1 if self.infinity else None

    @property
    def nan_code(self) -> int | None:
        """The code of NaN that this codec writes: the quiet one of IEEE, else the top one."""
        if self.num_nans:
            is_ieee = self.infinity and self.num_nans == (1 << self.mantissa_bits) - 1
            top = (1 << self.magnitude_bits) - 1
            return self.max_code + 1 + (1 << self.mantissa_bits - 1) if is_ieee else top
        return None if self.negative_zero else 1 << self.magnitude_bits

    @property
    def min_exponent(self) -> int:
        """The exponent of the smallest normal number, shared by the subnormals below it."""
        return self.zero - self.bias

    @property
    def max_exponent(self) -> int:
        """The exponent of the largest finite number, as floor(log2(max))."""
        field = max(self.max_code >> self.mantissa_bits, int(self.zero))
        return field - self.bias

    @property
    def max(self) -> float:
        """The largest finite number."""
        return to_float(self.exact_magnitude(self.max_code))

    @property
    def min(self) -> float:
        """The lowest finite number."""
        return -self.max if self.signed else self.smallest_positive()

    @property
    def eps(self) -> float:
        """The gap above 1.0, counted as if 1.0 were a normal number."""
        return to_float(Fraction(2) ** max(-self.mantissa_bits, self.min_ulp_exponent))

    @property
    def min_ulp_exponent(self) -> int:
        """log2 of the distance between the smallest neighbours."""
        return self.min_exponent - self.mantissa_bits

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number with full precision."""
        return to_float(Fraction(2) ** self.min_exponent)

    @property
    def smallest_subnormal(self) -> float:
        """The smallest positive number; the smallest normal one where there are no subnormals."""
        return self.smallest_positive()

    def smallest_positive(self) -> float:
        """Return the smallest number above zero."""
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
