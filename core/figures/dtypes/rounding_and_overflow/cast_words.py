"""What a cast did, in words: names of modes and policies, the lamp, and the reason."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from core.dtypes.cast.explain_cast import CastTrace
from core.dtypes.exact import exact_decimal
from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Overflow, Rounding
from core.language import N_, _
from core.units import in_percent

ROUNDING_NAMES: Final[Mapping[Rounding, str]] = {
    "nearest_even": N_("nearest, ties to even"),
    "nearest_away": N_("nearest, ties away"),
    "toward_zero": N_("toward zero"),
    "up": N_("up, to +∞"),
    "down": N_("down, to −∞"),
    "stochastic": N_("stochastic"),
}
OVERFLOW_NAMES: Final[Mapping[Overflow, str]] = {
    "default": N_("as the standard says"),
    "saturate": N_("saturate"),
    "infinity": N_("to infinity"),
    "nan": N_("to NaN"),
}


@dataclass(frozen=True, slots=True)
class Lamp:
    """One lamp: what it says, its sign for those who see no colours, and its colour's meaning."""

    name: str
    sign: str
    color: str


LAMPS: Final[Mapping[str, Lamp]] = {
    "exact": Lamp(N_("exact"), "=", "exact"),
    "rounded": Lamp(N_("rounded"), "≈", "measured"),
    "tie": Lamp(N_("tie"), "½", "estimated"),
    "subnormal": Lamp(N_("subnormal"), "▽", "sticky"),
    "underflow": Lamp(N_("underflow"), "↓0", "underflow"),
    "overflow": Lamp(N_("overflow"), "↑", "overflow"),
    "infinity": Lamp(N_("infinity"), "∞", "overflow"),
    "nan": Lamp(N_("not a number"), "?", "overflow"),
}
_SMALL: Final = Fraction(1, 10_000)
_MARKS: Final = (0, 50, 100)
_REASONS: Final[Mapping[str, str]] = {
    "exact": N_("Every bit of it fits: nothing is cut off."),
    "below_half": N_("{cut}: less than half, the nearer neighbour is {stored}."),
    "above_half": N_("{cut}: more than half, the nearer neighbour is {stored}."),
    "tie_to_even": N_("{cut}: exactly half, and the even neighbour {stored} wins."),
    "tie_away": N_("{cut}: exactly half, and the neighbour away from zero, {stored}, wins."),
    "tie_to_lower": N_("Exactly half way: a codebook takes the lower code, {stored}."),
    "toward_zero": N_("{cut}: they are dropped, whatever they are; {stored} stays."),
    "directed": N_("{cut}: something is cut off, and the direction alone decides for {stored}."),
    "chance": N_("{cut}: up with a chance of {share}; this draw chose {stored}."),
    "flushed": N_("It would be subnormal, and this format flushes those to {stored}."),
    "no_zero": N_("This format has no zero: the smallest number, {stored}, stands in."),
    "beyond_largest": N_(
        "Rounding lands beyond {largest}, the largest number: the overflow rule puts {stored}."
    ),
    "beyond_stops": N_(
        "It lies beyond {largest}, the largest number, and this direction of rounding never "
        "goes further out."
    ),
    "no_sign": N_("This format has no sign: for a number below zero the rule puts {stored}."),
    "infinity": N_("Infinity is not rounded: a rule of the format puts {stored}."),
    "nan": N_("NaN is not rounded: a rule of the format puts {stored}."),
}


def digits(value: Fraction | float, most: int = 12) -> str:
    """Return a number with at most `most` significant digits; cut digits are marked by "…".

    >>> digits(2.0**-13), digits(2.0**-24, 6)
    ('0.0001220703125', '5.96046…e-8')
    """
    if isinstance(value, Fraction):
        return _digits(value, most)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    return _digits(Fraction(value), most)


def _digits(value: Fraction, most: int) -> str:
    """Write small numbers with an exponent: leading zeros are hard to count."""
    if value == 0 or abs(value) >= _SMALL:
        return exact_decimal(value, most)[0]
    power = len(str(value.denominator)) - len(str(abs(value.numerator)))
    if abs(value) * 10**power < 1:
        power += 1
    return f"{exact_decimal(value * 10**power, most)[0]}e-{power}"


def precision(fmt: Format) -> int:
    """Return how many digits tell the numbers of a format apart, for a reader's eye."""
    return 12 if fmt.bits <= 32 else 20


def lit_lamps(trace: CastTrace) -> tuple[str, ...]:
    """Return the names of the lamps that a cast lights, what happened to the number first."""
    lit: list[str] = [trace.outcome]
    # Half way to a zero that the format does not have is no tie.
    lit += ["tie"] if trace.is_tie and trace.reason != "no_zero" else []
    lit += ["subnormal"] if trace.is_subnormal else []
    if trace.outcome == "overflow" and not math.isfinite(trace.result):
        lit.append("nan" if math.isnan(trace.result) else "infinity")
    return tuple(lit)


def outcome_words(trace: CastTrace) -> str:
    """Return what the lamps say, in one phrase."""
    return _(", ").join(_(LAMPS[name].name) for name in lit_lamps(trace))


def cut_words(trace: CastTrace) -> str:
    """Return the bits behind the kept ones in words."""
    if not trace.kept:
        return _("It lies {share} of the way up").format(share=percent(_clipped(trace.share)))
    shown = f"{trace.tail[:8]:0<3}"
    more = "…" if len(trace.tail) > 8 else ""
    return _("The bits after the kept ones are {bits}").format(bits=" ".join(shown) + more)


def reason_words(fmt: Format, trace: CastTrace) -> str:
    """Return in one sentence why this number is stored."""
    return _(_REASONS[trace.reason]).format(
        cut=cut_words(trace),
        stored=digits(trace.result, precision(fmt)),
        share=percent(_clipped(trace.share)),
        largest=digits(fmt.min if is_negative(trace.value) else fmt.max),
    )


def _clipped(share: Fraction) -> Fraction:
    return min(max(share, Fraction(0)), Fraction(1))


def is_negative(value: Fraction | float) -> bool:
    """Return whether a number carries a minus sign; -0 does."""
    return math.copysign(1, value) < 0 if isinstance(value, float) else value < 0


def percent(share: Fraction) -> str:
    """Return a share in percent; never "50 %" for what only comes near it.

    >>> (
    ...     percent(Fraction(1, 8)),
    ...     percent(Fraction(49969, 100000)),
    ...     percent(Fraction(499999999, 10**9)),
    ... )
    ('12.5 %', '49.97 %', '< 50 %')
    """
    exact = share * 100
    texts = [f"{float(exact):.{places}f}" for places in range(3)]
    for text in texts:
        if Fraction(text) == exact:
            return in_percent(text)
    for text in texts[1:]:
        if Fraction(text) not in _MARKS:
            return in_percent(text)
    mark = min(_MARKS, key=lambda each: abs(each - exact))
    return in_percent(f"{'<' if exact < mark else '>'} {mark}")
