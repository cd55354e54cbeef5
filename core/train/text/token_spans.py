"""Where the tokens of several tokenizers stand in one text."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.language import N_
from core.train.text.pieces import vocabulary_signs
from core.train.text.tokenizers import BPETokenizer, ByteTokenizer, CharacterTokenizer, Tokenizer

CHARACTER = N_("character")
BYTE = N_("byte")
BPE = N_("BPE")


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
    return _spans_of_bytes(text, ByteTokenizer())


def bpe_spans(text: str, tokenizer: BPETokenizer) -> tuple[Span, ...]:
    """Return the tokens of byte-pair encoding; one may end within a character."""
    return _spans_of_bytes(text, tokenizer)


def _spans_of_bytes(text: str, tokenizer: ByteTokenizer | BPETokenizer) -> tuple[Span, ...]:
    # Where each byte of the text begins, in characters; the last entry is the end.
    edges: list[float] = []
    for place, character in enumerate(text):
        width = len(character.encode())
        edges += [place + part / width for part in range(width)]
    edges.append(float(len(text)))
    ids = [int(each) for each in tokenizer.encode(text)]
    found, end = [], 0
    for number, sign in zip(ids, vocabulary_signs(tokenizer, ids), strict=True):
        start, end = end, end + len(tokenizer.raw(number))
        found.append(Span(id=number, sign=sign, start=edges[start], end=edges[end]))
    return tuple(found)


def all_spans(text: str, tokenizer: Tokenizer, bpe: BPETokenizer) -> Mapping[str, tuple[Span, ...]]:
    """Return the tokens of each tokenizer by its name, a message id.

    Args:
        text: What is cut.
        tokenizer: The model's own; one of characters lends its vocabulary, else the text is it.
        bpe: For its row, unless the model has one of its own.
    """
    known = tokenizer if isinstance(tokenizer, CharacterTokenizer) else CharacterTokenizer.of(text)
    merged = tokenizer if isinstance(tokenizer, BPETokenizer) else bpe
    return {
        CHARACTER: character_spans(text, known),
        BYTE: byte_spans(text),
        BPE: bpe_spans(text, merged),
    }
