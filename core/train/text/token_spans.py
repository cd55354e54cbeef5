"""Where the tokens of several tokenizers stand in one text."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.language import N_
from core.train.text.pieces import vocabulary_signs
from core.train.text.tokenizers import ByteTokenizer, CharacterTokenizer

CHARACTER = N_("character")
BYTE = N_("byte")


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A token and the part of the text that it stands for, in characters; a byte has a part of one.

    >>> [(span.id, span.start, span.end) for span in byte_spans("é")]
    [(195, 0.0, 0.5), (169, 0.5, 1.0)]
    """

    id: int
    sign: str
    start: float
    end: float


def character_spans(text: str, tokenizer: CharacterTokenizer) -> tuple[Span, ...]:
    """Return a token a character; characters that the vocabulary lacks have none."""
    found = []
    for place, character in enumerate(text):
        if character in tokenizer.characters:
            number = int(tokenizer.encode(character)[0])
            sign = vocabulary_signs(tokenizer, [number])[0]
            found.append(Span(id=number, sign=sign, start=place, end=place + 1))
    return tuple(found)


def byte_spans(text: str) -> tuple[Span, ...]:
    """Return a token a byte; the bytes of a character share its place."""
    tokenizer, found = ByteTokenizer(), []
    for place, character in enumerate(text):
        numbers = [int(each) for each in tokenizer.encode(character)]
        width = 1 / len(numbers)
        for part, (number, sign) in enumerate(
            zip(numbers, vocabulary_signs(tokenizer, numbers), strict=True)
        ):
            start = place + part * width
            found.append(Span(id=number, sign=sign, start=start, end=start + width))
    return tuple(found)


def all_spans(text: str, tokenizer: object) -> Mapping[str, tuple[Span, ...]]:
    """Return the tokens of each tokenizer by its name, a message id.

    Args:
        text: What is cut.
        tokenizer: The model's own; one of characters lends its vocabulary, else the text is it.
    """
    known = tokenizer if isinstance(tokenizer, CharacterTokenizer) else CharacterTokenizer.of(text)
    return {CHARACTER: character_spans(text, known), BYTE: byte_spans(text)}
