"""Words of the field that explain themselves on hover or focus."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from core.language import N_, _


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the glossary and its explanation, both marked for the catalogue."""

    word: str
    explanation: str


GLOSSARY: Final[Mapping[str, Word]] = MappingProxyType(
    {
        "tensor": Word(N_("tensor"), N_("A block of numbers of one type, with a shape.")),
        "token": Word(
            N_("token"), N_("A piece of text that the model sees as one number: here a character.")
        ),
        "parameter": Word(N_("parameter"), N_("A number of the model that training changes.")),
        "weights": Word(N_("weights"), N_("The numbers of the model that training changes.")),
        "gradient": Word(
            N_("gradient"),
            N_("For each weight: how much the loss changes when the weight changes a little."),
        ),
        "optimizer state": Word(
            N_("optimizer state"),
            N_("What the optimizer remembers: AdamW keeps two numbers for each weight."),
        ),
        "activations": Word(
            N_("activations"),
            N_("Results of the forward pass that are kept because the backward pass needs them."),
        ),
        "loss": Word(
            N_("loss"),
            N_("How surprised the model is by the next token, in nats; lower is better."),
        ),
        "entropy": Word(
            N_("entropy"),
            N_("The average surprise, in nats, of someone who knows only how often things occur."),
        ),
        "learning rate": Word(
            N_("learning rate"), N_("How far one step moves the weights against the gradient.")
        ),
        "batch": Word(N_("batch"), N_("The examples that one step looks at together.")),
        "checkpoint": Word(
            N_("checkpoint"), N_("A file with all that is needed to continue a run exactly.")
        ),
        "embedding": Word(N_("embedding"), N_("The list of numbers that stands for one token.")),
        "attention": Word(
            N_("attention"), N_("Each token gathers from earlier tokens what it needs from them.")
        ),
        "exponent": Word(
            N_("exponent"), N_("The bits of a number that say between which powers of two it lies.")
        ),
        "mantissa": Word(
            N_("mantissa"), N_("The bits of a number that say where between those powers it lies.")
        ),
        "FLOPs": Word(N_("FLOPs"), N_("How many additions and multiplications: a count.")),
        "FLOP/s": Word(N_("FLOP/s"), N_("Additions and multiplications in a second: a rate.")),
        "scale factor": Word(
            N_("scale factor"),
            N_("What the small numbers of a block are multiplied with to get their size back."),
        ),
        "outlier": Word(N_("outlier"), N_("A value much larger than the ones beside it.")),
        "throughput": Word(N_("throughput"), N_("How much is done in a second: tokens/s.")),
    }
)


def term(name: str) -> str:
    """Return HTML of a word that shows its explanation on hover and on focus.

    Raises:
        ValueError: If the glossary has no such word.
    """
    if name not in GLOSSARY:
        raise ValueError(f"{name!r} is not in the glossary; it has: {', '.join(GLOSSARY)}")
    entry = GLOSSARY[name]
    word, explanation = html.escape(_(entry.word)), html.escape(_(entry.explanation))
    return (
        f'<span class="term" tabindex="0" role="note" aria-label="{word}: {explanation}" '
        f'data-explains="{explanation}">{word}</span>'
    )
