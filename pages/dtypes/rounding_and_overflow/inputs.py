"""The inputs of the cast: a number, a format, a rounding mode, an overflow rule; and the cast."""

from contextlib import nullcontext
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
from pages.shared.inputs import Inputs
from pages.shared.settings import presenting

ASK: Final = Inputs("rounding")
DEFAULT_VALUE: Final = "65519.99"
MAX_CHARS: Final = 60
MAX_SEED: Final = 9999
_SHOWN_CHARS: Final = 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
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

    def into(self, fmt: Format) -> CastTrace:
        """Return what the number becomes in a format, under the rules that were asked for."""
        return explain_cast(fmt, self.source(), self.rounding, self.overflow, chance=self.chance)


def choose_cast() -> Case:
    """Show the inputs and return what is asked for.

    Raises:
        ValueError: If the text is no number; the sentence says which texts are.
    """
    with st.container(key="rounding_inputs", horizontal=True, vertical_alignment="bottom"):
        text = ASK.text(
            "value",
            _("A number"),
            default=DEFAULT_VALUE,
            max_chars=MAX_CHARS,
            help=_("65519.99, 1e-8, 1/3, 2^-25, 0x1.8p3, inf, nan: read exactly, never rounded"),
        )
        name = ASK.selectbox("format", _("Format"), tuple(FORMATS), default="float16")
        # A projector has room for one row.
        words, icon = _("Rounding mode"), ":material/tune:"
        with st.popover(words, icon=icon, width="content") if presenting() else nullcontext():
            rounding, overflow, via_fp32, seed = _choose_rules()
    return Case(
        text=text,
        value=parse_value(text),
        fmt=FORMATS[name],
        rounding=rounding,
        overflow=overflow,
        via_fp32=via_fp32,
        seed=seed,
    )


def _choose_rules() -> tuple[Rounding, Overflow, bool, int]:
    rounding = ASK.selectbox(
        "mode",
        _("Rounding mode"),
        ROUNDINGS,
        default="nearest_even",
        labels=lambda mode: _(ROUNDING_NAMES[mode]),
    )
    overflow = ASK.selectbox(
        "overflow",
        _("Overflow rule"),
        OVERFLOWS,
        default="default",
        labels=lambda rule: _(OVERFLOW_NAMES[rule]),
    )
    via_fp32 = ASK.toggle(
        "fp32",
        _("float32 first"),
        default=False,
        help=_("Libraries turn a float64 into float32 first and so round twice."),
    )
    seed = 0
    if "stochastic" in (rounding, ASK.used("tab")):  # else nothing is drawn by chance
        seed = ASK.number("seed", _("Seed"), 0, MAX_SEED, default=0, step=1)
    return rounding, overflow, via_fp32, seed
