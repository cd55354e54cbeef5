"""The lamps beside the headline: what happened, by sign and word and colour."""

from collections.abc import Collection
from html import escape
from pathlib import Path
from typing import Final

import streamlit as st

from core.dtypes.cast.cast_trace import CastTrace
from core.figures.dtypes.rounding_and_overflow.cast_words import LAMPS, lit_lamps, outcome_words
from core.language import _
from pages.shared.settings import presenting

CSS: Final = Path(__file__).with_name("page.css")


def show_lamps(trace: CastTrace) -> None:
    """Show all lamps in a row, those of this cast lit; on a projector only these."""
    st.html(lamps_html(lit_lamps(trace), outcome_words(trace), all_of_them=not presenting()))


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
