"""The question of home: which part of a GPT holds most of its parameters?"""

from typing import Final

from core.budget import Item
from core.language import N_, _
from core.units import format_exact
from pages.shared.questions import Choice, predict_then_reveal

NAMES: Final = {
    "embeddings": N_("The embeddings: one row for each character and each position"),
    "attention": N_("Attention: queries, keys, values and their way out"),
    "feed_forward": N_("Feed-forward: four times as wide, and back"),
}


def ask_largest_part(parameters: Item) -> None:
    """Ask before the run; the counts are those of the model that the button trains."""
    counts = {name: round(parameters.child(name).amount) for name in NAMES}
    largest = max(counts, key=counts.__getitem__)
    wrong = _("That part holds {count} of {total}.")
    total = format_exact(round(parameters.amount))
    choices = [
        Choice(_(name))
        if part == largest
        else Choice(_(name), wrong.format(count=format_exact(counts[part]), total=total))
        for part, name in NAMES.items()
    ]
    reason = _(
        "{count} of {total}. A layer has 8 × width² numbers in its feed-forward part and "
        "4 × width² in its attention, whatever the text is."
    )
    predict_then_reveal(
        "home_largest_part",
        _("Which part of this GPT holds most of its parameters?"),
        choices,
        reason.format(count=format_exact(counts[largest]), total=total),
    )
