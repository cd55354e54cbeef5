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

CODE: Final = """
from torch import nn

vocab_size, seq_len, width, num_layers = {vocab_size}, {seq_len}, {hidden_dim}, {num_layers}


def norm():
    return nn.LayerNorm(width, bias=False)


def layer():
    attention = [nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)]
    wide = [nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)]
    return nn.ModuleList([norm(), *attention, norm(), *wide])


embeddings = [nn.Embedding(vocab_size, width), nn.Embedding(seq_len, width)]
gpt = nn.ModuleList([*embeddings, *(layer() for _ in range(num_layers)), norm()])
# The head is the first embedding again, turned round.
print(f"{{sum(each.numel() for each in gpt.parameters()):,}}")
"""


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
