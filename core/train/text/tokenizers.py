"""Text to token ids and back: one token a character, one a UTF-8 byte, or byte pairs (BPE)."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.language import _
from core.train.config import DEFAULT_BPE_VOCABULARY, TokenizerName

if TYPE_CHECKING:
    import tokenizers as library

Tokens = NDArray[np.uint16]
MAX_VOCABULARY: Final = 2**16  # token ids are stored in 16 bits

NUM_BYTES: Final = 256
# GPT-2's rule: a merge never crosses the border of a word. \d, \s and letters are Python's, and no
# piece is longer than 32 characters, for merges inside a longer one take minutes to count.
_WORD: Final = re.compile(
    r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]{1,32}| ?\d{1,32}| ?(?:[^\s\w]|_){1,32}"
    r"|\s{1,32}(?!\S)|\s{1,32}"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """The part of a text that one token stands for: its UTF-8 bytes, and where they lie in it.

    They may be a part of a character's.
    """

    token_id: int
    raw: bytes
    start: int
    end: int

    @property
    def is_text(self) -> bool:
        """Whether the bytes are whole characters."""
        return self.text == self.raw.decode(errors="replace")

    @property
    def text(self) -> str:
        """The characters, or the bytes in hexadecimal where they are none."""
        return shown_piece(self.raw)


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

    def raw(self, token_id: int) -> bytes:
        """Return the UTF-8 bytes of one token."""
        return self.characters[token_id].encode()

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

    def raw(self, token_id: int) -> bytes:
        """Return the byte of one token."""
        return bytes([token_id])

    def to_json(self) -> dict[str, Any]:
        """Return the name; there is nothing to remember."""
        return {"tokenizer": "byte"}


@dataclass(frozen=True, slots=True)
class BPETokenizer:
    """Byte-level byte-pair encoding: the first 256 tokens are bytes, each merge makes one more.

    Any text survives it, also one that it was not trained on.
    Source: Sennrich et al. 2016, on bytes as in Radford et al. 2019 (GPT-2).

    Attributes:
        merges: In the order they were learnt: the two token ids that become token 256 + place.
    """

    merges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str, vocab_size: int) -> "BPETokenizer":
        """Return the tokenizer whose merges are the most frequent pairs of `text`.

        Args:
            text: What it is trained on; the same text gives the same merges.
            vocab_size: At most so many tokens; a short text may run out of pairs before.

        Raises:
            ValueError: If the vocabulary is below the 256 bytes or above what 16 bits number.
        """
        if not NUM_BYTES <= vocab_size <= MAX_VOCABULARY:
            text = _("A BPE vocabulary of {size:,} tokens: choose from {low:,} to {high:,}.")
            sizes = {"size": vocab_size, "low": NUM_BYTES, "high": MAX_VOCABULARY}
            raise ValueError(text.format(**sizes))
        return cls(_learn_merges(text, vocab_size))

    @property
    def vocab_size(self) -> int:
        """The 256 bytes and one token a merge."""
        return NUM_BYTES + len(self.merges)

    def encode(self, text: str) -> Tokens:
        """Return the ids of the tokens; each different word is cut once."""
        words = _WORD.findall(text)
        different = list(dict.fromkeys(words))
        cut = _library_tokenizer(self.merges).encode_batch_fast(different)
        ids = {word: each.ids for word, each in zip(different, cut, strict=True)}
        return np.array([number for word in words for number in ids[word]], dtype=np.uint16)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text; bytes that are no UTF-8 become the replacement character."""
        return b"".join(self.raw(number) for number in token_ids).decode(errors="replace")

    def raw(self, token_id: int) -> bytes:
        """Return the bytes of one token; they may be a part of a character."""
        return _vocabulary(self.merges)[token_id]

    def to_json(self) -> dict[str, Any]:
        """Return the merges; all else follows from them."""
        return {"tokenizer": "bpe", "merges": [list(pair) for pair in self.merges]}


Tokenizer = CharacterTokenizer | ByteTokenizer | BPETokenizer


def make_tokenizer(
    name: TokenizerName, text: str, bpe_vocab_size: int = DEFAULT_BPE_VOCABULARY
) -> Tokenizer:
    """Return the tokenizer of that name for `text`; only BPE can choose its vocabulary's size."""
    if name == "bpe":
        return BPETokenizer.of(text, bpe_vocab_size)
    return CharacterTokenizer.of(text) if name == "character" else ByteTokenizer()


def tokenizer_from_json(data: dict[str, Any]) -> Tokenizer:
    """Return the tokenizer that `to_json` wrote."""
    if data["tokenizer"] == "bpe":
        return BPETokenizer(tuple((left, right) for left, right in data["merges"]))
    if data["tokenizer"] == "character":
        return CharacterTokenizer(data["characters"])
    return ByteTokenizer()


def pieces_of(tokenizer: Tokenizer, token_ids: Sequence[int]) -> tuple[Piece, ...]:
    """Return which bytes of the text each token stands for.

    >>> [piece.text for piece in pieces_of(ByteTokenizer(), "hé".encode())]
    ['h', '<C3>', '<A9>']
    """
    pieces, end = [], 0
    for token_id in token_ids:
        raw, start = tokenizer.raw(token_id), end
        end += len(raw)
        pieces.append(Piece(token_id=token_id, raw=raw, start=start, end=end))
    return tuple(pieces)


def shown_piece(raw: bytes) -> str:
    """Return the characters of some bytes, or the bytes in hexadecimal where they are none.

    >>> shown_piece(b"the"), shown_piece("中".encode()[:2])
    ('the', '<E4 B8>')
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return f"<{raw.hex(' ').upper()}>"


def _learn_merges(text: str, vocab_size: int) -> tuple[tuple[int, int], ...]:
    """Return the merges, as pairs of ids; the library counts, and names bytes by letters."""
    from tokenizers import trainers

    learner = _empty_tokenizer({}, [])
    learner.train_from_iterator(
        _WORD.findall(text),
        trainers.BpeTrainer(
            vocab_size=vocab_size, show_progress=False, initial_alphabet=list(_byte_letters())
        ),
    )
    ids = {letter: byte for byte, letter in enumerate(_byte_letters())}
    pairs = []
    for left, right in json.loads(learner.to_str())["model"]["merges"]:
        pairs.append((ids[left], ids[right]))
        # Two merges may spell the same token; the library then numbers it once.
        ids.setdefault(left + right, NUM_BYTES + len(pairs) - 1)
    return tuple(pairs)


@lru_cache(maxsize=4)
def _library_tokenizer(merges: tuple[tuple[int, int], ...]) -> "library.Tokenizer":
    letters = _byte_letters()
    names = ["".join(letters[byte] for byte in raw) for raw in _vocabulary(merges)]
    pairs = [(names[left], names[right]) for left, right in merges]
    return _empty_tokenizer({name: number for number, name in enumerate(names)}, pairs)


def _empty_tokenizer(
    vocabulary: dict[str, int], merges: list[tuple[str, str]]
) -> "library.Tokenizer":
    """Return the library's BPE over bytes; imported late, for only runs with BPE need it."""
    import tokenizers as library

    tokenizer = library.Tokenizer(library.models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    return tokenizer


@lru_cache(maxsize=4)
def _vocabulary(merges: tuple[tuple[int, int], ...]) -> tuple[bytes, ...]:
    raw = [bytes([byte]) for byte in range(NUM_BYTES)]
    for left, right in merges:
        raw.append(raw[left] + raw[right])
    return tuple(raw)


@lru_cache(maxsize=1)
def _byte_letters() -> tuple[str, ...]:
    """Return the printable letter by which each byte is named, as GPT-2's encoder.py does it."""
    printable = {*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(NUM_BYTES) if byte not in printable]
    return tuple(
        chr(byte) if byte in printable else chr(NUM_BYTES + others.index(byte))
        for byte in range(NUM_BYTES)
    )
