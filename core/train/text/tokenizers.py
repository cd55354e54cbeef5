"""Text to token ids and back: one token a character, or one a UTF-8 byte."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.language import _
from core.train.config import TokenizerName

Tokens = NDArray[np.uint16]
MAX_VOCABULARY: Final = 2**16  # token ids are stored in 16 bits


@dataclass(frozen=True, slots=True)
class CharacterTokenizer:
    """One token for each different character of a text, in code point order."""

    characters: str

    @classmethod
    def of(cls, text: str) -> "CharacterTokenizer":
        """Return the tokenizer whose vocabulary is the characters of `text`.

        Raises:
            ValueError: If there are more different characters than 16 bits can number.
        """
        characters = "".join(sorted(set(text)))
        if len(characters) > MAX_VOCABULARY:
            raise ValueError(
                _(
                    "The text has {count:,} different characters; at most {most:,} can be "
                    "numbered. Use the byte tokenizer."
                ).format(count=len(characters), most=MAX_VOCABULARY)
            )
        return cls(characters)

    @property
    def vocab_size(self) -> int:
        """Number of different characters."""
        return len(self.characters)

    def encode(self, text: str) -> Tokens:
        """Return one id a character.

        Raises:
            ValueError: If a character is not in the vocabulary.
        """
        table = {character: number for number, character in enumerate(self.characters)}
        try:
            return np.fromiter((table[c] for c in text), dtype=np.uint16, count=len(text))
        except KeyError as error:
            raise ValueError(
                _("The character {character} is not in the vocabulary.").format(character=error)
            ) from None

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the characters of the ids."""
        return "".join(self.characters[number] for number in token_ids)

    def to_json(self) -> dict[str, Any]:
        """Return the characters; their places are their ids."""
        return {"tokenizer": "character", "characters": self.characters}


@dataclass(frozen=True, slots=True)
class ByteTokenizer:
    """One token for each byte of the UTF-8 text: 256 of them, whatever the language."""

    @property
    def vocab_size(self) -> int:
        """Always 256."""
        return 256

    def encode(self, text: str) -> Tokens:
        """Return one id a byte."""
        return np.frombuffer(text.encode(), dtype=np.uint8).astype(np.uint16)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text; bytes that are no UTF-8 become the replacement character."""
        return bytes(token_ids).decode(errors="replace")

    def to_json(self) -> dict[str, Any]:
        """Return the name; there is nothing to remember."""
        return {"tokenizer": "byte"}


Tokenizer = CharacterTokenizer | ByteTokenizer


def make_tokenizer(name: TokenizerName, text: str) -> Tokenizer:
    """Return the tokenizer of that name for `text`."""
    return CharacterTokenizer.of(text) if name == "character" else ByteTokenizer()


def tokenizer_from_json(data: dict[str, Any]) -> Tokenizer:
    """Return the tokenizer that `to_json` wrote."""
    if data["tokenizer"] == "character":
        return CharacterTokenizer(data["characters"])
    return ByteTokenizer()
