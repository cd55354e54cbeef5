"""Which widths and special codes make a floating-point format, and which do not."""

from typing import TYPE_CHECKING, Final

from core.language import _

if TYPE_CHECKING:
    from core.dtypes.float_format import FloatFormat

MAX_EXPONENT_BITS: Final = 15
MAX_MANTISSA_BITS: Final = 52  # more would not pass through float64 unharmed


def check_layout(fmt: "FloatFormat") -> None:
    """Refuse widths that make no format.

    Raises:
        ValueError: If a width is out of range, or there is no bit beside the sign.
    """
    for name, width, most in (
        (_("exponent"), fmt.exponent_bits, MAX_EXPONENT_BITS),
        (_("mantissa"), fmt.mantissa_bits, MAX_MANTISSA_BITS),
    ):
        if not 0 <= width <= most:
            raise ValueError(
                _("{width} {name} bits are out of range: use 0 to {most}.").format(
                    name=name, width=width, most=most
                )
            )
    if not 1 <= fmt.magnitude_bits <= 63:
        raise ValueError(
            _("{bits} bits for exponent and mantissa are out of range: use 1 to 63.").format(
                bits=fmt.magnitude_bits
            )
        )
    if not fmt.zero and (fmt.exponent_bits == 0 or not fmt.subnormals):
        raise ValueError(
            _("A format without zero needs an exponent and has no subnormals to flush.")
        )


def check_specials(fmt: "FloatFormat") -> None:
    """Refuse special codes for which there is no room.

    Raises:
        ValueError: If infinity and the NaN codes leave no finite number but zero, or reach below
            the highest exponent.
    """
    if fmt.num_nans < 0:
        raise ValueError(_("{count} NaN codes: use 0 or more.").format(count=fmt.num_nans))
    if not fmt.signed and not fmt.negative_zero:
        raise ValueError(_("A format without a sign has no negative zero to turn into NaN."))
    num_specials = fmt.num_nans + fmt.infinity
    if num_specials > 1 << fmt.mantissa_bits:
        raise ValueError(
            _(
                "{count} special codes do not fit beside {bits} mantissa bits: the highest "
                "exponent has room for {room}."
            ).format(count=num_specials, bits=fmt.mantissa_bits, room=1 << fmt.mantissa_bits)
        )
    if num_specials >= 1 << fmt.magnitude_bits or fmt.max_code < 1:
        raise ValueError(
            _(
                "Infinity and {count} NaN codes leave no finite number but zero: "
                "add a bit or remove a special."
            ).format(count=fmt.num_nans)
        )
    if fmt.zero and not fmt.subnormals and fmt.max_code >> fmt.mantissa_bits == 0:
        raise ValueError(
            _("Every number of this format is subnormal: without subnormals only zero is left.")
        )
