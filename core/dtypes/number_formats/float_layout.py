"""How a floating-point code is laid out: widths and special codes, and which of them make sense."""

from dataclasses import dataclass
from typing import Final

from core.language import _

MAX_EXPONENT_BITS: Final = 15
MAX_MANTISSA_BITS: Final = 52  # more would not pass through float64 unharmed


@dataclass(frozen=True, kw_only=True)
class FloatLayout:
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
