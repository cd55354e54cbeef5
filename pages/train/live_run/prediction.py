"""What is known of a run before it starts, in numbers that explain themselves; and a question."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.language import _
from core.train.config import TrainConfig
from core.train.run.disk import sentence_of
from core.train.start.plan import Outline, Prepared, Wish, outline_run, plan_run
from core.units import format_bytes, format_seconds
from pages.components.live_chart.words import CATEGORY_NAMES
from pages.shared.answer import explained_number
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import unit_system
from pages.train.live_run.settings import UPLOAD


def outline(wish: Wish) -> Outline | None:
    """Return what is true of the wish on any machine; a refusal becomes a sentence and None."""
    if wish.changes["corpus"] == UPLOAD and wish.upload is None:
        st.info(_("Choose a text file under Settings; then its numbers appear here."))
        return None
    try:
        return outline_run(wish)
    except (ValueError, OSError) as error:
        st.warning(sentence_of(error))
        return None


def predict(wish: Wish) -> Prepared | None:
    """Return what this machine will need for the wish; a refusal becomes a sentence and None."""
    try:
        return plan_run(wish)
    except (ValueError, OSError) as error:
        st.warning(sentence_of(error))
        return None


def headline_text(config: TrainConfig, parameters: str) -> str:
    """Return the numbers of a run that are the same on every machine, as one line."""
    text = _("{tokens} tokens a step, learning rate {rate}")
    if parameters:
        text = _("{params} parameters learn from {tokens} tokens a step, learning rate {rate}")
    tokens, pieces = config.tokens_per_step, config.accumulation_steps
    product = f"{pieces} × {tokens // pieces:,} = " if pieces > 1 else ""
    return text.format(
        params=parameters, tokens=f"{product}{tokens:,}", rate=f"{config.learning_rate:g}"
    )


def watched_text(told: Mapping[str, Any], parameters: str) -> str:
    """Return what is known of a loop of the reader's own: it told no more than it knew."""
    words = [_("{params} parameters learn in a loop of its own").format(params=parameters)]
    if optimizer := told.get("optimizer"):
        words.append(str(optimizer))
    if tokens := told.get("tokens_per_step"):
        words.append(_("{tokens} tokens a step").format(tokens=f"{tokens:,}"))
    return " · ".join(words)


def plan_text(planned: Outline) -> str:
    return headline_text(planned.config, f"{planned.parameters.amount:,}")


def prediction_text(planned: Outline, prepared: Prepared | None) -> str:
    """Return what the text gives, and memory, steps and time on this machine where known."""
    if prepared is None:
        return details(planned.config, planned.vocab_size)
    seconds = prepared.seconds.amount if prepared.seconds else None
    memory = prepared.memory.num_bytes
    text = details(prepared.config, planned.vocab_size, memory, seconds)
    first = _("Train times 20 steps first")
    return text if prepared.seconds else f"{text} · {first}"


def details(
    config: TrainConfig,
    vocab_size: int | None,
    num_bytes: float | None = None,
    seconds: float | None = None,
) -> str:
    """Return tokens, memory, steps and time of a run, as far as they are known.

    `seconds`: predicted time from the click to the last step; without it the steps of the config
        are not yet those that will be trained. A time limit is told instead of it.
    """
    words = [_("vocabulary of {count}").format(count=vocab_size)] if vocab_size else []
    if num_bytes:
        words.append(format_bytes(num_bytes, unit_system()))
    if seconds:
        words.append(_("{count} steps").format(count=f"{config.num_steps:,}"))
    if config.max_seconds:
        words.append(_("at most {time}").format(time=format_seconds(config.max_seconds)))
    elif seconds:
        words.append(format_seconds(seconds))
    return " · ".join(words)


def show_prediction(prepared: Prepared) -> None:
    """Show parameters, bytes by category and seconds; each tells its formula."""
    whole = (
        (_("parameters"), prepared.parameters),
        (_("memory"), prepared.memory),
        (_("time"), prepared.seconds),
    )
    parts = [(_(CATEGORY_NAMES[part.name]), part) for part in prepared.memory.children]
    for label, item in (*whole, *parts):
        if item is not None:
            with st.container(width="content"):
                explained_number(label, item)


def ask_first_loss(planned: Outline) -> None:
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
