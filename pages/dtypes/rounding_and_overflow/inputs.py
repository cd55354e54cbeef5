"""The inputs of the cast: a number, a format, a rounding mode, an overflow rule; and the cast."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import streamlit as st

from core.dtypes import FORMATS, OVERFLOWS, ROUNDINGS, Format, Overflow, Rounding
from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.cast.draws import first_chance
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.exact import parse_value
from core.figures.dtypes.rounding_and_overflow.cast_words import OVERFLOW_NAMES, ROUNDING_NAMES
from core.language import _
from pages.shared import pickers
from pages.shared.settings import presenting

PAGE: Final = "rounding"
DEFAULT_VALUE: Final = "65519.99"
MAX_CHARS: Final = 60
MAX_SEED: Final = 9999
NONE: Final = "none"
_SHOWN_CHARS: Final = 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What the reader asks for.

    Attributes:
        text: The number as written.
        value: The number itself, unrounded.
        fmt: The format.
        rounding: The rounding mode.
        overflow: The overflow rule.
        via_fp32: Whether float32 comes first, as in libraries.
        seed: Of stochastic rounding.
    """

    text: str
    value: Fraction | float
    fmt: Format
    rounding: Rounding
    overflow: Overflow
    via_fp32: bool
    seed: int

    @property
    def said(self) -> str:
        """The number as written, short enough for a picture."""
        text = self.text.strip()
        return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"

    @property
    def chance(self) -> float:
        """What stochastic rounding draws."""
        return first_chance(self.seed)

    def in_float32(self) -> CastTrace:
        """Return the first of two roundings."""
        return explain_cast(FORMATS["float32"], self.value)

    def source(self) -> Fraction | float:
        """Return what the last rounding starts from."""
        if not self.via_fp32:
            return self.value
        first = self.in_float32()
        return first.result if first.exact_result is None else first.exact_result

    def into(self, fmt: Format, rounding: Rounding, overflow: Overflow) -> CastTrace:
        """Return what the number becomes in a format."""
        return explain_cast(fmt, self.source(), rounding, overflow, chance=self.chance)

    def cast(self) -> CastTrace:
        """Return what the number becomes under everything that was asked for."""
        return self.into(self.fmt, self.rounding, self.overflow)

    def in_format(self, fmt: Format) -> CastTrace:
        """Return what the number becomes in another format, under the same rules."""
        return self.into(fmt, self.rounding, self.overflow)


def choose_cast() -> Wish:
    """Show the inputs and return what is asked for.

    Raises:
        ValueError: If the text is no number; the sentence says which texts are.
    """
    with st.container(key="rounding_inputs", horizontal=True, vertical_alignment="bottom"):
        text = pickers.text(
            PAGE,
            "value",
            _("A number"),
            default=DEFAULT_VALUE,
            max_chars=MAX_CHARS,
            help=_("65519.99, 1e-8, 1/3, 2^-25, 0x1.8p3, inf, nan: read exactly, never rounded"),
        )
        name = pickers.selectbox(PAGE, "format", _("Format"), tuple(FORMATS), default="float16")
        if presenting():
            with st.popover(_("Rounding mode"), icon=":material/tune:", width="content"):
                rounding, overflow, via_fp32, seed = _rules()
        else:
            rounding, overflow, via_fp32, seed = _rules()
    return Wish(
        text=text,
        value=parse_value(text),
        fmt=FORMATS[name],
        rounding=rounding,
        overflow=overflow,
        via_fp32=via_fp32,
        seed=seed,
    )


def _rules() -> tuple[Rounding, Overflow, bool, int]:
    rounding = pickers.selectbox(
        PAGE,
        "mode",
        _("Rounding mode"),
        ROUNDINGS,
        default="nearest_even",
        labels=lambda mode: _(ROUNDING_NAMES[mode]),
    )
    overflow = pickers.selectbox(
        PAGE,
        "overflow",
        _("Overflow rule"),
        OVERFLOWS,
        default="default",
        labels=lambda rule: _(OVERFLOW_NAMES[rule]),
    )
    via_fp32 = pickers.toggle(
        PAGE,
        "fp32",
        _("float32 first"),
        default=False,
        help=_("Libraries turn a float64 into float32 first and so round twice."),
    )
    return rounding, overflow, via_fp32, choose_seed(rounding)


def choose_seed(rounding: Rounding) -> int:
    """Show the seed of the draws where something is drawn; else it is 0."""
    if rounding != "stochastic" and st.session_state.get("rounding_tab") != "stochastic":
        return 0
    return pickers.number(PAGE, "seed", _("Seed"), 0, MAX_SEED, default=0, step=1)


def choose_beside(first: str) -> tuple[Format, ...]:
    """Show three lists behind a button; return the page's format and those beside it, each once."""
    names = [first]
    defaults = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
    with st.popover(_("Compare with"), icon=":material/add:", width="content"):
        for number, default in enumerate(defaults, start=2):
            names.append(_beside(number, default))
    return tuple(FORMATS[name] for name in dict.fromkeys(names) if name != NONE)


def _beside(number: int, default: str) -> str:
    return pickers.selectbox(
        PAGE,
        f"format{number}",
        _("Format {number}").format(number=number),
        (NONE, *FORMATS),
        default=default,
        labels=lambda name: _("nothing") if name == NONE else name,
    )
