"""The inputs of the cast: a number, a format, a rounding mode, an overflow rule; and the cast."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

import numpy as np
import streamlit as st

from core.dtypes import FORMATS, Format, Overflow, Rounding
from core.dtypes.cast.explain_cast import CastTrace, explain_cast
from core.dtypes.cast.slider_values import numbers_around
from core.dtypes.exact import parse_value
from core.figures.dtypes.rounding_and_overflow.cast_words import OVERFLOW_NAMES, ROUNDING_NAMES
from core.figures.dtypes.rounding_and_overflow.line_window import VIEWS, View
from core.language import N_, _
from pages.dtypes.rounding_and_overflow.window import (
    DEFAULT_CENTER,
    FreePart,
    begin_at_number,
    choose_window,
)
from pages.shared.dtypes.number_slider import (
    before_the_drag,
    slider_through_decades,
    slider_through_numbers,
)
from pages.shared.inputs import Inputs

ASK: Final = Inputs("rounding")
DEFAULT_VALUE: Final = "65519.99"
MAX_CHARS: Final = 60
MAX_SEED: Final = 9999
_SHOWN_CHARS: Final = 24
_NONE: Final = "none"
_BESIDE: Final = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
# Tabs that show a rounding between neighbours, and numbers of all sizes.
_NEAR: Final = ("zoom", "modes")
_FAR: Final = ("formats", "line")
Shape = View | Literal["free", "spacing"]
VIEW_NAMES: Final[Mapping[Shape, str]] = {
    "log": N_("all, in powers of two"),
    "linear": N_("from zero, evenly"),
    "near": N_("near the number"),
    "free": N_("a window to move and zoom"),
    "spacing": N_("the gaps, against size"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the reader asks for."""

    text: str
    value: Fraction | float
    fmt: Format
    rounding: Rounding
    overflow: Overflow
    via_fp32: bool  # whether float32 comes first, as in libraries
    seed: int
    beside: tuple[str, ...] = ()
    # Of the number line: by a rule, or as the reader has moved it; "spacing" its gaps
    part: View | FreePart | Literal["spacing"] = "log"

    @property
    def formats(self) -> list[Format]:
        return [FORMATS[name] for name in dict.fromkeys((self.fmt.name, *self.beside))]

    @property
    def said(self) -> str:
        text = self.text.strip()
        return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"

    @property
    def chance(self) -> float:
        return float(np.random.default_rng(self.seed).random())

    def in_float32(self) -> CastTrace:
        return explain_cast(FORMATS["float32"], self.value)

    def source(self) -> Fraction | float:
        if not self.via_fp32:
            return self.value
        first = self.in_float32()
        return first.result if first.exact_result is None else first.exact_result

    def into(self, fmt: Format) -> CastTrace:
        """Return what the number becomes in a format, under the rules that were asked for."""
        return explain_cast(fmt, self.source(), self.rounding, self.overflow, chance=self.chance)


def choose_cast() -> Case:
    """Show the inputs and return what is asked for; a text that is no number raises a sentence."""
    tab, view_before = ASK.used("tab"), ASK.used("view", "free")
    view: Shape = VIEWS[0]
    if tab == "line":
        view = ASK.selectbox("view", _("Number line"), VIEW_NAMES, default=VIEWS[0])
    is_free = view == "free"
    place, field = st.container(), st.container()
    fmt = FORMATS[ASK.selectbox("format", _("Format"), tuple(FORMATS), default="float16")]
    in_sight = st.container()
    with st.popover(_("Settings"), icon=":material/tune:", width="stretch"):
        with in_sight if tab in _NEAR else nullcontext():
            rounding = ASK.selectbox(
                "mode", _("Rounding mode"), ROUNDING_NAMES, default="nearest_even"
            )
        overflow, via_fp32, seed = _choose_rules(draws=rounding == "stochastic")
        beside = _choose_beside() if tab == "line" else ()
        with nullcontext() if is_free else field:
            text = _write("value", _("Exact number"), DEFAULT_VALUE)
        if is_free and view_before != "free":
            begin_at_number(ASK, text, fmt)
        center = _write("center", _("Centre of the window"), DEFAULT_CENTER) if is_free else ""
    with place:
        part = choose_window(ASK, center) if view == "free" else view
        value = parse_value(text)
        if not is_free:
            _slide(tab, text, fmt)
    return Case(
        text=text, value=value, fmt=fmt, rounding=rounding, overflow=overflow, via_fp32=via_fp32,
        seed=seed, beside=beside, part=part,
    )  # fmt: skip


def _write(name: str, label: str, default: str) -> str:
    return ASK.text(
        name,
        label,
        default=default,
        max_chars=MAX_CHARS,
        help=_("65519.99, 1e-8, 1/3, 2^-25, 0x1.8p3, inf, nan: read exactly, never rounded"),
    )


def _slide(tab: str, text: str, fmt: Format) -> None:
    """Show a slider for the number: around it where a rounding is looked at, else through decades.

    While the hand drags, the stops stay where they were when it began.
    """
    before = parse_value(before_the_drag(ASK, "value", text))
    stops = numbers_around(fmt, before)
    if tab in _NEAR and stops:
        slider_through_numbers(ASK, "value", stops, text)
    elif tab in (*_NEAR, *_FAR):
        slider_through_decades(ASK, "value", text)


def _choose_rules(*, draws: bool) -> tuple[Overflow, bool, int]:
    overflow = ASK.selectbox("overflow", _("Overflow rule"), OVERFLOW_NAMES, default="default")
    via_fp32 = ASK.toggle(
        "fp32",
        _("float32 first"),
        default=False,
        help=_("Libraries turn a float64 into float32 first and so round twice."),
    )
    seed = ASK.number("seed", _("Seed"), 0, MAX_SEED, default=0, step=1) if draws else 0
    return overflow, via_fp32, seed


def _choose_beside() -> tuple[str, ...]:
    names = (
        ASK.selectbox(
            f"format{number}",
            _("Format {number}").format(number=number),
            (_NONE, *FORMATS),
            default=default,
            labels=lambda name: _("nothing") if name == _NONE else name,
        )
        for number, default in enumerate(_BESIDE, start=2)
    )
    return tuple(name for name in names if name != _NONE)
