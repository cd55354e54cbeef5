"""The question of the live page: which loss does a model have that has learnt nothing?"""

from core.language import _
from core.train.start.plan import Outline
from pages.shared.questions import Choice, predict_then_reveal


def ask_first_loss(planned: Outline) -> None:
    """Ask before the start, answer from the text's own vocabulary."""
    predict_then_reveal(
        "lr_first_loss",
        _("Which loss does the model have before its first step, in nats per token?"),
        (
            Choice("0.00", _("Zero would mean that it knows every next token for certain.")),
            Choice(f"{planned.ln_vocab:.2f}"),
            Choice(
                f"{planned.unigram_entropy:.2f}",
                _(
                    "That is the entropy of the token frequencies: to reach it, the model must "
                    "have learnt how often each token occurs."
                ),
            ),
            Choice(
                f"{planned.vocab_size:.2f}",
                _("That is the number of tokens; the loss is its natural logarithm."),
            ),
        ),
        _(
            "An untrained model gives each of the {vocab_size} tokens nearly the same chance, "
            "1/{vocab_size}. Its surprise is ln {vocab_size} = {loss} nats, whatever comes next: "
            "the dotted line at the top of the chart."
        ).format(vocab_size=planned.vocab_size, loss=f"{planned.ln_vocab:.2f}"),
    )
