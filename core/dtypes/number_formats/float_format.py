"""A floating-point format as data: one row of widths and rules, one codec for all of them.

Encoding takes five exact steps: split |x| into fraction and exponent; lift the exponent to that of
the smallest normal number; measure |x| in units in the last place; round to a whole number; add the
exponent field. A carry out of the mantissa, subnormals and the smallest normal number need no case
of their own: the codes of neighbours are neighbours. Infinity and NaN are put in afterwards.
"""

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.exact import Special, to_float
from core.dtypes.number_formats.format import Codes, Counts, Format
from core.dtypes.rounding import Flags, Floats, Overflow, Rng, Rounding, round_magnitudes
from core.dtypes.rounding import stops_at_the_largest as stops
from core.language import _

MAX_EXPONENT_BITS: Final = 15
MAX_MANTISSA_BITS: Final = 52  # more would not pass through float64 unharmed
WideCodes = npt.NDArray[np.uint64]


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

    Raises:
        ValueError: If a width is out of range, or the special codes leave too little room.
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
        self._check_widths()
        if self.num_nans == -1:
            object.__setattr__(self, "num_nans", (1 << self.mantissa_bits) - 1)
        self._check_specials()

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
    def min_code(self) -> int:
        """The code of the smallest positive number."""
        if not self.zero:
            return 0
        return 1 if self.subnormals else 1 << self.mantissa_bits

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
    def min_ulp_exponent(self) -> int:
        """log2 of the distance between the smallest neighbours."""
        return self.min_exponent - self.mantissa_bits

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
        wide = codes.astype(np.uint64)
        magnitude = wide & np.uint64((1 << self.magnitude_bits) - 1)
        field = (magnitude >> np.uint64(self.mantissa_bits)).astype(np.int64)
        mantissa = (magnitude & np.uint64((1 << self.mantissa_bits) - 1)).astype(np.float64)
        exponent = np.maximum(field, int(self.zero)) - self.bias - self.mantissa_bits
        is_normal = (field > 0) if self.zero else np.ones(field.shape, np.bool_)
        hidden = np.where(is_normal, float(1 << self.mantissa_bits), 0.0)
        if not self.subnormals:
            mantissa = np.where(is_normal, mantissa, 0.0)
        with np.errstate(over="ignore", under="ignore"):
            values: Floats = np.ldexp(hidden + mantissa, exponent)
        values[magnitude > self.max_code] = np.nan
        if self.infinity_code is not None:
            values[magnitude == self.infinity_code] = np.inf
        if not self.signed:
            return values
        negative = (wide >> np.uint64(self.magnitude_bits)).astype(np.bool_)
        values = np.where(negative, -values, values)
        if not self.negative_zero:
            values[negative & (magnitude == 0)] = np.nan
        return values

    def _encode(self, values: Floats, rounding: Rounding, overflow: Overflow, rng: Rng) -> Codes:
        negative = np.signbit(values)
        magnitudes = self._magnitude_codes(np.abs(values), negative, rounding, rng)
        too_large = magnitudes > self.max_code
        # Infinity and NaN come out of the rounding as a code beyond the largest.
        if too_large.any():
            self._put_specials(magnitudes, values, too_large, rounding, overflow)
        if not self.signed:
            # There is no code for a number below zero; what rounds to a zero has lost its sign.
            lost = negative & (values < 0) & ((magnitudes > 0) | (not self.zero))
            magnitudes[lost] = 0 if self.nan_code is None else self.nan_code
            return magnitudes
        sign = negative.astype(np.uint64) << np.uint64(self.magnitude_bits)
        if not self.negative_zero:
            sign[magnitudes == 0] = 0  # the code of -0 would be NaN
        return magnitudes | sign

    def _magnitude_codes(
        self, magnitudes: Floats, negative: Flags, rounding: Rounding, rng: Rng
    ) -> WideCodes:
        """Return codes without sign, as if exponents went on for ever above the largest."""
        _fraction, exponent = np.frexp(
            magnitudes
        )  # |x| = fraction * 2**exponent, fraction in [0.5, 1)
        # frexp gives zero the exponent 0; it belongs to the lowest binade of all.
        exponent = np.where(magnitudes > 0, exponent.astype(np.int64) - 1, self.min_exponent)
        lifted = np.maximum(exponent, self.min_exponent)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.ldexp(magnitudes, self.mantissa_bits - lifted)
            whole = round_magnitudes(scaled, negative, rounding, rng)
        if not self.subnormals:
            whole[(lifted == self.min_exponent) & (whole < 1 << self.mantissa_bits)] = 0
        finite = np.isfinite(magnitudes)
        whole[~finite] = 0
        # One exponent too many stands for all that are too large: no shift leaves the 64 bits.
        steps = np.minimum(lifted - self.min_exponent, 1 << self.exponent_bits).astype(np.uint64)
        codes: WideCodes = whole.astype(np.uint64) + (steps << np.uint64(self.mantissa_bits))
        if not self.zero:
            hidden = np.uint64(1 << self.mantissa_bits)
            codes = np.maximum(codes, hidden) - hidden
        codes[~finite] = self.max_code + 1
        return codes

    def _put_specials(
        self,
        magnitudes: WideCodes,
        values: Floats,
        too_large: Flags,
        rounding: Rounding,
        overflow: Overflow,
    ) -> None:
        """Replace the codes beyond the largest finite number, in place."""
        magnitudes[too_large] = self._overflow_code(overflow)
        if overflow == "default":
            stopped = too_large & np.isfinite(values) & stops(rounding, np.signbit(values))
            magnitudes[stopped] = self.max_code
        # A NaN stays NaN under every policy; without a NaN code the standards leave it undefined,
        # and this codec answers with zero.
        magnitudes[np.isnan(values)] = 0 if self.nan_code is None else self.nan_code

    def _overflow_code(self, overflow: Overflow) -> int:
        if overflow == "saturate":
            return self.max_code
        if overflow != "nan" and self.infinity_code is not None:
            return self.infinity_code
        return self.max_code if self.nan_code is None else self.nan_code

    def _check_widths(self) -> None:
        """Refuse widths that are out of range, or leave no bit beside the sign."""
        for name, width, most in (
            (_("exponent"), self.exponent_bits, MAX_EXPONENT_BITS),
            (_("mantissa"), self.mantissa_bits, MAX_MANTISSA_BITS),
        ):
            if not 0 <= width <= most:
                raise ValueError(
                    _("{width} {name} bits are out of range: use 0 to {most}.").format(
                        name=name, width=width, most=most
                    )
                )
        if not 1 <= self.magnitude_bits <= 63:
            raise ValueError(
                _("{bits} bits for exponent and mantissa are out of range: use 1 to 63.").format(
                    bits=self.magnitude_bits
                )
            )
        if not self.zero and (self.exponent_bits == 0 or not self.subnormals):
            raise ValueError(
                _("A format without zero needs an exponent and has no subnormals to flush.")
            )

    def _check_specials(self) -> None:
        """Refuse specials that leave no number but zero, or reach below the highest exponent."""
        if self.num_nans < 0:
            raise ValueError(_("{count} NaN codes: use 0 or more.").format(count=self.num_nans))
        if not self.signed and not self.negative_zero:
            raise ValueError(_("A format without a sign has no negative zero to turn into NaN."))
        num_specials, room = self.num_nans + self.infinity, 1 << self.mantissa_bits
        if num_specials > room:
            raise ValueError(
                _(
                    "{count} special codes do not fit beside {bits} mantissa bits: the highest "
                    "exponent has room for {room}."
                ).format(count=num_specials, bits=self.mantissa_bits, room=room)
            )
        if num_specials >= 1 << self.magnitude_bits or self.max_code < 1:
            raise ValueError(
                _(
                    "Infinity and {count} NaN codes leave no finite number but zero: "
                    "add a bit or remove a special."
                ).format(count=self.num_nans)
            )
        if self.zero and not self.subnormals and self.max_code >> self.mantissa_bits == 0:
            raise ValueError(
                _("Every number of this format is subnormal: without subnormals only zero is left.")
            )


# The fields that make a set of numbers, in the order in which a reader would compare two formats.
RULES: Final = tuple(field.name for field in fields(FloatFormat))[len(fields(Format)) :]
