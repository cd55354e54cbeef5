"""What is stored and why: the headline, its lamps, the reason, and Python that prints it."""

from collections.abc import Callable, Collection
from dataclasses import replace
from html import escape
from typing import Final

import streamlit as st

from core.dtypes.cast.cast_trace import CastTrace
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
from pages.dtypes.rounding_and_overflow.inputs import Case
from pages.shared.prose import as_typed
from pages.shared.settings import presenting
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


def answered(
    case: Case, picture: Picture, file_name: str, *, link: Callable[[], object] = lambda: None
) -> Shown:
    """Say why the number is stored so, and return the answer with its lamps above a picture.

    Args:
        case: What the reader asks for.
        picture: Of the tab.
        file_name: Name of its downloads, without an ending.
        link: Draws a link beside the lamps.
    """
    trace = case.into(case.fmt)
    with st.container(key="rounding_reason"):
        st.markdown(reason(case, trace))

    def show_lamps() -> None:
        lit, words = lit_lamps(trace), outcome_words(trace)
        # A projector has room for those that are lit.
        st.html(lamps_html(lit, words, all_of_them=not presenting()))
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
    """Return the sentence that states what is stored."""
    template = _("{number} in {format} = {result}")
    if case.via_fp32:
        template = _("{number} through float32 in {format} = {result}")
    result = digits(trace.result, precision(case.fmt))
    return template.format(number=as_typed(case.said), format=case.fmt.name, result=result)


def snippet(case: Case) -> str:
    """Return Python that prints what is stored."""
    return _CODE.format(
        text=case.text.strip(),
        first=_FIRST if case.via_fp32 else "",
        format=case.fmt.name,
        rounding=case.rounding,
        overflow=case.overflow,
        chance=f", chance={case.chance}" if case.rounding == "stochastic" else "",
    )


def reason(case: Case, trace: CastTrace) -> str:
    """Return in one sentence why; and what a single rounding gives, where it gives another one."""
    text = reason_words(case.fmt, trace)
    if not case.via_fp32:
        return text
    once = replace(case, via_fp32=False).into(case.fmt)
    if digits(once.result) == digits(trace.result):
        return text + " " + _("Rounded once, without float32, it is the same.")
    other = _("Rounded once, without float32, it is {once}: the first rounding had moved it.")
    return text + " " + other.format(once=digits(once.result, precision(case.fmt)))


def lamps_html(lit: Collection[str], words: str, *, all_of_them: bool = True) -> str:
    """Return the lamps as one picture with a sentence.

    Args:
        lit: Names of the lamps that are on.
        words: What these say together, translated.
        all_of_them: Whether those that are off are drawn too.
    """
    label = escape(_("Lamps on: {names}").format(names=words), quote=True)
    parts = [
        f'<span class="lamp{" lit" if name in lit else ""}" '
        f'style="--lamp:var(--b2g-{lamp.color.replace("_", "-")})">'
        f"<b>{escape(lamp.sign)}</b> {escape(_(lamp.name))}</span>"
        for name, lamp in LAMPS.items()
        if all_of_them or name in lit
    ]
    return f'<div class="lamps" role="img" aria-label="{label}">{"".join(parts)}</div>'
