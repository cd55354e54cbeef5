"""The tokens of a text, each with a sign that can be seen, and where they stand in it."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.language import N_
from core.train.text.tokenizers import BPETokenizer, ByteTokenizer, CharacterTokenizer, Tokenizer

# Unicode's own sign for a space, U+2423: a middle dot also multiplies and parts words here.
SIGNS: Final = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"}
CHARACTER: Final = N_("character")
BYTE: Final = N_("byte")
BPE: Final = N_("BPE")
SIGNS_TOLD: Final = N_("␣ is a space, ↵ the end of a line, ⇥ a tab.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pieces:
    """The last tokens of a text of `num_all`; `unknown` characters, each once, were left out."""

    token_ids: tuple[int, ...]
    num_all: int
    unknown: tuple[str, ...]


def last_pieces(tokenizer: Tokenizer, text: str, most: int) -> Pieces:
    """Return the last tokens of a text, at most `most`; characters without a token are left out."""
    unknown: tuple[str, ...] = ()
    if isinstance(tokenizer, CharacterTokenizer):
        known = frozenset(tokenizer.characters)
        unknown = tuple(dict.fromkeys(each for each in text if each not in known))
        text = "".join(each for each in text if each in known)
    token_ids = [int(number) for number in tokenizer.encode(text)]
    return Pieces(token_ids=tuple(token_ids[-most:]), num_all=len(token_ids), unknown=unknown)


def vocabulary_signs(tokenizer: Tokenizer, token_ids: Sequence[int]) -> tuple[str, ...]:
    """Return a visible sign for each token: "e", "␣", "↵"; a byte that is no letter as "E4"."""
    return tuple(_sign(tokenizer, number) for number in token_ids)


def _sign(tokenizer: Tokenizer, number: int) -> str:
    text = tokenizer.decode([number])
    if "\ufffd" in text and number < 256:  # a byte in the midst of a character
        return f"{number:02X}"
    return visible(text)


def visible(text: str) -> str:
    """Return a text whose spaces, ends of lines and controls can be seen.

    >>> visible("a b" + chr(10)), visible(chr(0))
    ('a␣b↵', '00')
    """
    return "".join(SIGNS.get(each) or _seen(each) for each in text)


def _seen(character: str) -> str:
    is_unseen = unicodedata.category(character)[0] in "CZ"
    return f"{ord(character):02X}" if is_unseen else character


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A token and the part of the text that it stands for, in characters; a byte has a part of one.

    >>> [(span.id, span.start, span.end) for span in spans_of_bytes("é", ByteTokenizer())]
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


def spans_of_bytes(text: str, tokenizer: ByteTokenizer | BPETokenizer) -> tuple[Span, ...]:
    """Return the tokens of bytes; those of one character share its place, or end within it."""
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

    A model's own tokenizer of characters lends its vocabulary, one of BPE stands in for `bpe`.
    """
    known = tokenizer if isinstance(tokenizer, CharacterTokenizer) else CharacterTokenizer.of(text)
    merged = tokenizer if isinstance(tokenizer, BPETokenizer) else bpe
    return {
        CHARACTER: character_spans(text, known),
        BYTE: spans_of_bytes(text, ByteTokenizer()),
        BPE: spans_of_bytes(text, merged),
    }
