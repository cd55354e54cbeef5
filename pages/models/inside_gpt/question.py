"""What the reader is asked to predict: how sure a model is that has learned nothing."""

from core.language import _
from core.models.depth import depth
from core.models.one_head import one_head
from core.models.walk import walk
from core.train.text.pieces import last_pieces
from core.units import format_count, format_percent
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


def ask_for_the_first_row() -> None:
    """Ask how the first token shares its attention; the shares are computed."""
    trained = opened_at(SMALL, steps_of(SMALL)[-1])
    read = last_pieces(trained.tokenizer, START, len(START))
    one = one_head(walk(trained.model, read.token_ids), 0, 0)
    token, _score, weight = one.looks_at(0)
    count = len(read.token_ids)
    predict_then_reveal(
        ASK.key("first_row"),
        _("A text has {count} tokens. How much of its attention does the first one give itself?")
        .format(count=count),
        [
            Choice(
                format_percent(1 / count),
                _("So it would be if all tokens were seen alike. The first one sees no other."),
            ),
            Choice(
                _("That depends on the weights of the model"),
                _("For all other tokens, yes. The mask leaves the first one a single score."),
            ),
            Choice(format_percent(weight)),
        ],
        _(
            "The mask hides all that comes later, so the first row has one score that is not −∞, "
            "and softmax of a single number is {share}: token {token} looks at itself in every "
            "head of every model."
        ).format(share=format_percent(weight), token=token + 1),
    )  # fmt: skip


def ask_for_the_costly_stage() -> None:
    """Ask which part of a block takes most FLOPs; they are those of a real pass."""
    trained = opened_at(SMALL, steps_of(SMALL)[-1])
    read = last_pieces(trained.tokenizer, START, len(START))
    spent = {"projection": 0, "scores": 0, "feed_forward": 0}
    for stage in walk(trained.model, read.token_ids):
        kind = "scores" if stage.kind == "mix" else stage.kind
        if stage.layer == 0 and kind in spent:
            spent[kind] += stage.flops
    words = {key: format_count(flops) for key, flops in spent.items()}
    predict_then_reveal(
        ASK.key("costly_stage"),
        _("A block reads {count} tokens. Which of its parts takes the most FLOPs?").format(
            count=len(read.token_ids)
        ),
        [
            Choice(
                _("Scores and mix of attention"),
                _("They grow with the square of the text: {flops} here. A short text is cheap.")
                .format(flops=words["scores"]),
            ),
            Choice(_("The two matrices of the feed-forward layer")),
            Choice(
                _("The projections to q, k, v and back"),
                _("They are four matrices of C × C, {flops} here; feed-forward has twice as many.")
                .format(flops=words["projection"]),
            ),
        ],
        _(
            "Feed-forward takes {most} FLOPs, the projections {half}, scores and mix {scores}. "
            "Scores and mix overtake only when the text is longer than about four times the width."
        ).format(most=words["feed_forward"], half=words["projection"], scores=words["scores"]),
    )  # fmt: skip
