"""What the reader is asked to predict: how sure a model is that has learned nothing."""

from core.language import _
from core.models.depth import depth
from core.train.text.pieces import last_pieces
from core.units import format_percent
from pages.models.inside_gpt.inputs import ASK, START
from pages.models.inside_gpt.models import SMALL, opened_at, opened_fresh, steps_of
from pages.shared.questions import Choice, predict_then_reveal


def ask_for_the_first_chance() -> None:
    """Ask what a fresh model gives its favourite token; all percentages are computed."""
    trained = opened_at(SMALL, steps_of(SMALL)[-1])
    read = last_pieces(trained.tokenizer, START, len(START))
    fresh, taught = (
        depth(model.model, read.token_ids, None) for model in (opened_fresh(trained), trained)
    )
    sure, first = taught.chances[-1, -1, 0], fresh.chances[-1, -1, 0]
    vocab_size = fresh.vocab_size
    choices = [
        Choice(
            format_percent(sure),
            _("So sure is the trained model. Nothing has told the fresh one which token follows."),
        ),
        Choice(_("About {share}, as any other token").format(share=format_percent(first))),
        Choice(
            format_percent(0.0),
            _("Softmax gives every token more than 0, and all of them together 1."),
        ),
    ]
    predict_then_reveal(
        ASK.key("first_chance"),
        _(
            "A model with {count} tokens in its vocabulary has learned nothing. Which probability "
            "does its likeliest next token get?"
        ).format(count=vocab_size),
        choices,
        _(
            "Its weights are small and random, so all logits are nearly equal: {share} is about "
            "1 / {count}. Its loss is about ln {count} = {loss} nats."
        ).format(share=format_percent(first), count=vocab_size, loss=f"{fresh.uniform_loss:.2f}"),
    )
