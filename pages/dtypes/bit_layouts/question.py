"""The question of "Bit layouts": where do the codes of float16 lie?"""

from core.dtypes import FORMATS
from core.dtypes.facts.format_facts import format_facts
from core.language import _
from pages.shared.questions import Choice, predict_then_reveal


def ask_below_one() -> None:
    """Ask how many of float16's positive numbers lie below 1; the counts are computed."""
    facts = format_facts(FORMATS["float16"])
    below, total = f"{facts.num_below_one:,}", f"{facts.num_positive:,}"
    predict_then_reveal(
        "bits_below_one",
        _("float16 has {total} numbers above zero, up to {max}. How many lie below 1?").format(
            total=total, max=int(facts.max)
        ),
        [
            Choice(
                _("Next to none: 1 of 65504 of the range"),
                _("That would be evenly spaced numbers, as integers are."),
            ),
            Choice(_("About half: {count}").format(count=below)),
            Choice(
                _("1,024: one mantissa full"),
                _("That many lie between 1 and 2, and again between 1/2 and 1, and so on."),
            ),
        ],
        _(
            "{below} of {total}: half of the exponents are negative, and each power of two gets "
            "the same 1,024 numbers. Floats are dense near zero, where weights and gradients are."
        ).format(below=below, total=total),
    )
