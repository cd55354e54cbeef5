"""What is stored and why: the headline, its lamps, the reason, and Python that prints it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from html import escape
from typing import Final

import streamlit as st

from core.dtypes import Rounding
from core.dtypes.cast.explain_cast import CastTrace
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    LAMPS,
    digits,
    lit_lamps,
    outcome_words,
    precision,
    reason_words,
)
from core.figures.picture import Picture
from core.language import _
from core.language.listing import followed_by
from pages.dtypes.rounding_and_overflow.inputs import Case
from pages.shared.dtypes.plain_code import STEP_AT, beyond, exact_text, is_plain, widths
from pages.shared.prose import as_typed
from pages.shared.tabbed_page import Chart, Shown

_CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast

value = {text!r}{first}
trace = explain_cast(FORMATS[{format!r}], value, {rounding!r}, {overflow!r}{chance})
print(trace.result, trace.outcome, trace.reason)
"""
_FIRST: Final = """
value = explain_cast(FORMATS["float32"], value).result  # rounded twice, as libraries do"""
_PLAIN: Final = """

x = {value}{first}
step = step_at(x, mantissa_bits={mantissa}, lowest_exponent={lowest})
stored = {rounded} * step  # {mode}
print(float(stored) if {low} <= stored <= {high} else {beyond})
"""
_PLAIN_FIRST: Final = """
first = step_at(x, mantissa_bits=23, lowest_exponent=-126)
x = round(x / first) * first  # float32 first, as libraries do"""
# How many steps of the format a number becomes, away from zero where a rule knows no direction.
_NUM_STEPS: Final[Mapping[Rounding, str]] = {
    "nearest_even": "round(x / step)",
    "nearest_away": "math.trunc(x / step + (Fraction(1, 2) if x > 0 else -Fraction(1, 2)))",
    "toward_zero": "math.trunc(x / step)",
    "up": "math.ceil(x / step)",
    "down": "math.floor(x / step)",
    "stochastic": "(-1 if x < 0 else 1) * math.ceil(abs(x) / step - Fraction({chance}))",
}


def answered(
    case: Case, picture: Picture, file_name: str, *, link: Callable[[], object] = lambda: None
) -> Shown:
    """Say why the number is stored so, and return the answer with its lamps above a picture."""
    trace = case.into(case.fmt)
    with st.container(key="rounding_reason"):
        st.markdown(reason(case, trace))

    def show_lamps() -> None:
        st.html(lamps_html(lit_lamps(trace), outcome_words(trace)))
        link()

    return Shown(
        headline=sentence(case, trace),
        beside_headline=show_lamps,
        charts=[Chart(picture=picture, file_name=file_name)],
    )


def refused(error: ValueError) -> Shown:
    """Return why nothing can be stored: the text is no number."""
    return Shown(headline=as_typed(str(error)))


def sentence(case: Case, trace: CastTrace) -> str:
    template = _("{number} in {format} = {result}")
    if case.via_fp32:
        template = _("{number} through float32 in {format} = {result}")
    result = digits(trace.result, precision(case.fmt))
    return template.format(number=as_typed(case.said), format=case.fmt.name, result=result)


def snippet(case: Case) -> str:
    """Return Python that prints what is stored: plain Python where the format's steps are even.

    A fraction knows no -0, infinity or NaN, and a codebook has no steps: there the product's own
    code is shown.
    """
    is_minus_zero = digits(case.into(case.fmt).result) == "-0"
    is_number = bool(case.value) and isinstance(case.source(), Fraction)
    if is_plain(case.fmt) and is_number and not is_minus_zero:
        return _plain_code(case, Fraction(case.value))
    return _CODE.format(
        text=case.text.strip(),
        first=_FIRST if case.via_fp32 else "",
        format=case.fmt.name,
        rounding=case.rounding,
        overflow=case.overflow,
        chance=f", chance={case.chance}" if case.rounding == "stochastic" else "",
    )


def _plain_code(case: Case, value: Fraction) -> str:
    mantissa, lowest = widths(case.fmt)
    return STEP_AT + _PLAIN.format(
        value=exact_text(case.text.strip(), value),
        first=_PLAIN_FIRST if case.via_fp32 else "",
        mantissa=mantissa,
        lowest=lowest,
        rounded=_NUM_STEPS[case.rounding].format(chance=case.chance),
        mode=case.rounding.replace("_", " "),
        low=case.fmt.min,
        high=case.fmt.max,
        beyond=beyond(case.fmt, negative=value < 0, rounding=case.rounding, overflow=case.overflow),
    )


def reason(case: Case, trace: CastTrace) -> str:
    """Return in one sentence why; and what a single rounding gives, where it gives another one."""
    text = reason_words(case.fmt, trace)
    if not case.via_fp32:
        return text
    once = replace(case, via_fp32=False).into(case.fmt)
    if digits(once.result) == digits(trace.result):
        return followed_by(text, _("Rounded once, without float32, it is the same."))
    other = _("Rounded once, without float32, it is {once}: the first rounding had moved it.")
    return followed_by(text, other.format(once=digits(once.result, precision(case.fmt))))


def lamps_html(lit: Collection[str], words: str) -> str:
    label = escape(_("Lamps on: {names}").format(names=words), quote=True)
    parts = [
        f'<span class="lamp" style="--lamp:var(--b2g-{LAMPS[name].color.replace("_", "-")})">'
        f"<b>{escape(LAMPS[name].sign)}</b> {escape(_(LAMPS[name].name))}</span>"
        for name in lit
    ]
    return f'<div class="lamps" role="img" aria-label="{label}">{"".join(parts)}</div>'
