"""The end of a text as the tokens that a model reads, each with a sign that can be seen."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.language import N_
from core.train.text.tokenizers import CharacterTokenizer, Tokenizer

# Unicode's own sign for a space, U+2423: a middle dot also multiplies and parts words here.
SIGNS: Final = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"}
SIGNS_TOLD: Final = N_("␣ is a space, ↵ the end of a line, ⇥ a tab.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pieces:
    """The last tokens of a text.

    Attributes:
        token_ids: At most as many as were asked for.
        num_all: Tokens of the whole text.
        unknown: Characters that the tokenizer does not know, each once; they were left out.
    """

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
