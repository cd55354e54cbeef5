"""Why a number became what it became, in a sentence; and the number as its pictures name it."""

from dataclasses import replace

import streamlit as st

from core.dtypes.cast.cast_trace import CastTrace
from core.figures.dtypes.rounding_and_overflow.cast_words import digits, precision, reason_words
from core.language import _
from pages.dtypes.rounding_and_overflow.inputs import Wish


def picture_name(wish: Wish) -> str:
    """Return the number as written, and what float32 made of it when that came first."""
    if not wish.via_fp32:
        return wish.said
    return f"{wish.said} → float32 {digits(wish.in_float32().result, 10)}"


def show_reason(wish: Wish, trace: CastTrace) -> None:
    """Say in one sentence why; and what a single rounding gives, where two give another result."""
    text = reason_words(wish.fmt, trace)
    if wish.via_fp32:
        once = replace(wish, via_fp32=False).cast()
        if digits(once.result) == digits(trace.result):
            text += " " + _("Rounded once, without float32, it is the same.")
        else:
            text += " " + _(
                "Rounded once, without float32, it is {once}: the first rounding had moved it."
            ).format(once=digits(once.result, precision(wish.fmt)))
    st.markdown(text)
