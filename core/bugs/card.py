"""A card: a claim or a program as one meets it, and the two pieces of code that settle it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from core.bugs.running import Answer, program, run_cell
from core.language import N_

SUBJECTS: Final[Mapping[str, str]] = {
    "numbers": N_("Number formats"),
    "memory": N_("Memory"),
    "compute": N_("Compute and time"),
    "tensors": N_("Tensors"),
    "gradients": N_("Gradients"),
    "training": N_("Training"),
    "data": N_("Data and checkpoints"),
    "models": N_("Models"),
}
WHAT: Final = N_("What does running it give?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """One claim, wrong or true; `{wrong}` and `{right}` in its words are what was computed.

    Attributes:
        key: Its word in the address.
        subject: A key of `SUBJECTS`.
        level: 1 easy to 3 hard.
        title: A few words.
        claim: As a reader would meet it.
        question: What is predicted.
        wrong: Code of a wrong value: the wrong program, or what the claim takes for granted; of a
            claim that is true, what many expect instead.
        right: Code of the value that is true.
        other: Code of a third answer to choose from.
        why_other: Said to who chose that.
        why: What goes wrong.
        page: Key of the page that explains it, and `query` its state.
        shows: Which code stands beside the claim; the other one is shown after the answer.
        written: How a number is written.
        hears_warnings: Whether a warning of torch is the answer.
        holds: Whether the claim is true, however wrong it sounds; it names the `{right}` value.
        concepts: Of the course.
    """

    key: str
    subject: str
    level: int
    title: str
    claim: str
    wrong: str
    right: str
    other: str
    why_other: str
    why: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    question: str = WHAT
    shows: Literal["wrong", "right"] = "wrong"
    written: str = "{:.4g}"
    hears_warnings: bool = False
    holds: bool = False
    concepts: Sequence[str] = ()

    @property
    def code(self) -> str:
        """The code that stands beside the claim."""
        return self.wrong if self.shows == "wrong" else self.right

    @property
    def fix(self) -> str:
        """The other code: the corrected version, or what the claim is true of."""
        return self.right if self.shows == "wrong" else self.wrong


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What the three pieces of code of a card gave."""

    wrong: Answer
    right: Answer
    other: Answer


def play(card: Card) -> Outcome:
    """Run the code of a card.

    Raises:
        ValueError: If two of its answers read the same.
    """
    wrong, right, other = (
        run_cell(code, card.written, hears_warnings=card.hears_warnings)
        for code in (card.wrong, card.right, card.other)
    )
    if len({wrong.text, right.text, other.text}) != 3:
        raise ValueError(f"card {card.key}: {wrong.text}, {right.text} and {other.text}")
    return Outcome(wrong=wrong, right=right, other=other)


def program_of(card: Card, outcome: Outcome | None) -> str:
    """Return a program that prints what the shown code gives and, once answered, what settles it.

    Args:
        card: The card.
        outcome: None while the reader has not answered.
    """
    cells = [card.code] if outcome is None else [card.code, card.fix]
    # Before the answer nothing may tell whether the code fails.
    may_fail = outcome is None or bool(outcome.wrong.message or outcome.right.message)
    return program(cells, may_fail=may_fail)
