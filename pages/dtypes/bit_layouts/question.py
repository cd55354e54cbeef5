"""What waits below the picture, each behind a line that opens: the question and the reading."""

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.facts.format_facts import format_facts
from core.language import _
from pages.dtypes.bit_layouts.inputs import ASK
from pages.shared.prose import prose
from pages.shared.questions import Choice, predict_then_reveal


def ask_below_one() -> None:
    """Ask how many of float16's positive numbers lie below 1; the counts are computed."""
    facts = format_facts(FORMATS["float16"])
    below, total = f"{facts.num_below_one:,}", f"{facts.num_positive:,}"
    choices = [
        Choice(
            _("Next to none: 1 of 65504 of the range"),
            _("That would be evenly spaced numbers, as integers are."),
        ),
        Choice(_("About half: {count}").format(count=below)),
        Choice(
            _("1,024: one mantissa full"),
            _("That many lie between 1 and 2, and again between 1/2 and 1, and so on."),
        ),
    ]
    predict_then_reveal(
        ASK.key("below_one"),
        _("float16 has {total} numbers above zero, up to {max}. How many lie below 1?").format(
            total=total, max=int(facts.max)
        ),
        choices,
        _(
            "{below} of {total}: half of the exponents are negative, and each power of two "
            "gets the same 1,024 numbers. Floats are dense near zero, where weights and "
            "gradients are."
        ).format(below=below, total=total),
    )


def show_reading() -> None:
    """Show the page's text."""
    with st.expander(_("How to read the bits"), icon=":material/menu_book:"):
        prose(__file__, "reading")
