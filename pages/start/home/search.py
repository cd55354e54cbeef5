"""A small index of words: find the texts nearest to a question or to a pasted error."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

THRESHOLD: Final = 0.5  # share of the lighter side's weight that both must have in common
SHORTEST_PREFIX: Final = 3
_WORD: Final = re.compile(r"(?<![a-z_0-9])[a-z_][a-z_0-9]*|[\u3400-\u9fff]+")
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing to find: `kind` and `target` say what it is and which one."""

    kind: str  # "lesson" | "page" | "error"
    target: str
    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the text, without numbers: sizes differ from error to error."""
        return frozenset(split_words(self.text))


def split_words(text: str) -> list[str]:
    """Return lower-case words, and for Chinese the pairs of neighbouring characters.

    >>> split_words("View size 2x3 的步长")
    ['view', 'size', '的步', '步长']
    """
    words: list[str] = []
    for run in _WORD.findall(text.lower()):
        if _CHINESE.match(run) and len(run) > 1:
            words += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            words.append(run)
    return words


def search(query: str, entries: Sequence[Entry], limit: int = 5) -> tuple[Entry, ...]:
    """Return the entries that share most of their words with the query, best first.

    A rare word weighs more than a common one (inverse document frequency, Sparck Jones 1972), and
    the longer of the two texts may hold much else: a pasted traceback, a long explanation. A word
    may be half typed. A single letter finds nothing: the a of "tensor a" is no subject.
    """
    asked = frozenset(word for word in split_words(query) if len(word) > 1 or not word.isascii())
    weights = _weights(entries)
    scored = [(_weight_in_common(asked, entry.words, weights), entry) for entry in entries]
    found = [pair for pair in scored if pair[0] > 0]
    found.sort(key=lambda pair: pair[0], reverse=True)
    return tuple(entry for _weight, entry in found[:limit])


def _weights(entries: Sequence[Entry]) -> Mapping[str, float]:
    counts = Counter(word for entry in entries for word in entry.words)
    return {word: math.log(1 + len(entries) / count) for word, count in counts.items()}


def _weight_in_common(
    asked: frozenset[str], words: frozenset[str], weights: Mapping[str, float]
) -> float:
    """Return the weight that both share, 0 when it is too small a part of the lighter one."""
    stems = tuple(word for word in asked if len(word) >= SHORTEST_PREFIX)
    common = {word for word in words if word in asked or word.startswith(stems)}
    shared = sum(weights[word] for word in common)
    lighter = min(
        sum(weights[word] for word in words), sum(weights.get(word, 0.0) for word in asked)
    )
    return shared if shared >= THRESHOLD * lighter else 0.0
