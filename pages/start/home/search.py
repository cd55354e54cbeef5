"""How well what is asked matches what can be found; words that nothing here knows count against.

An error is explained by torch's own words alone (`error_of`), never by words in common.
"""

import math
import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from pages.shared.start.torch_errors import TorchError, error_of
from pages.start.home.asked_plan import asked_plan
from pages.start.home.index import SIZING, Entry, Link, all_entries

MAX_HITS: Final = 5
MAX_NEAREST: Final = 3
CERTAIN: Final = 0.5  # of a score; 1: the words are the whole name of an entry
NEAREST: Final = 0.12
NAMED: Final = 0.9  # a model or a device that is named in full, whatever else is said
_IN_BODY: Final = 0.4  # where a word in a name is worth 1
_IN_FULL: Final = 0.97
_STOP: Final = 0.1  # weight of a word that says little
_WORD: Final = re.compile(r"[\u3400-\u9fff]|(?:[a-z]|\d(?:\.(?=\d))?)+(?:(?<=\de)[+-]\d+)?")
_CHINESE_WORDS: Final = frozenset("熵卡秩")  # words of one character
_SUFFIX: Final = re.compile(r"(?<=[a-z]{4})(?:ations?|ing|e?s|ed?)$")
_STOPS: Final = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can could do does for from has have how i in is it its me my not "
        "of on one or our own should so that the there this to use using was we what when which "
        "who why will with would you your",
    )
)
_CHINESE_STOPS: Final = re.compile(
    "为什么|怎么样?|什么|如何|多少张?|[几哪]张|哪[些个]|需要|是否|之后|以后|能不能|一[个张]|多大|"
    "[吗呢的了是有我要会能在和与跑]"
)
_ERROR: Final = re.compile(r"Traceback \(|\w(?:Error|Exception|Warning)\b|报错[:：]")
_ERROR_SHAPE: Final = re.compile(
    r"\b(?:expected .+ (?:got|found)|but (?:got|found|received)|must (?:be|match|have)|mismatch|"
    r"can't|cannot|could not|can only|is not|are not|has no|does not (?:require|exist|match|have)|"
    r"unexpected|invalid|illegal|failed|unable|not (?:supported|implemented|allowed)|"
    r"out of (?:range|bounds|memory))\b"
)
_QUESTION: Final = re.compile(
    r"^\W*(?:how|why|what|when|which|where|who|is|are|do|does|can|should)\b|[?？]\s*$|怎|什么|如何|吗"
)
_SHORTEST_ERROR: Final = 6  # words: fewer are asked for, not pasted
_HOW_MANY: Final = re.compile(
    r"(?:how many|多少|几)\W*[张块]?\W*(?:gpus?|cards?|显?卡|[a-z]+[ -]?\d)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What a query finds.

    Attributes:
        error: The error whose words these are.
        is_error: Whether they are those of an error, explained or not.
        is_answer: Whether the first hit answers; else the hits are only the nearest.
        hits: Best first.
    """

    error: TorchError | None = None
    is_error: bool = False
    is_answer: bool = False
    hits: Sequence[Entry] = ()


def find_all(query: str) -> Found:
    """Return the error that a text is, or what answers it, or what is nearest to it."""
    if error := error_of(query):
        return Found(error=error, is_error=True)
    is_error = looks_like_error(query)
    scored = index().search(query.strip().rpartition("\n")[2] if is_error else query)
    best = scored[0][0] if scored else 0.0
    if is_error or best < CERTAIN:
        near = [entry for score, entry in scored if score >= NEAREST]
        return Found(is_error=is_error, hits=near[:MAX_NEAREST])
    hits = [entry for score, entry in scored if score >= best * CERTAIN]
    return Found(is_answer=True, hits=hits[:MAX_HITS])


def looks_like_error(text: str) -> bool:
    """Return whether a program that failed has said this, not a person who asks."""
    if _ERROR.search(text):
        return True
    is_short = len(text.split()) < _SHORTEST_ERROR or _QUESTION.search(text.lower())
    return not is_short and _ERROR_SHAPE.search(text) is not None


def links_of(entry: Entry, query: str) -> Sequence[Link]:
    """Return where an entry is shown: with the plan and the number that a query names, too."""
    scored = index().search(query)
    if entry.kind in {"model", "device"}:
        named = {e.kind: e for score, e in reversed(scored) if score >= CERTAIN}
        named[entry.kind] = entry
        things = {kind: named[kind] for kind in ("model", "device") if kind in named}
        said = {f"plan_{kind}": each.key for kind, each in things.items()}
        said |= asked_plan(query, **{kind: each.names[0] for kind, each in things.items()})
        rank = {e.key: score for score, e in scored if e.kind == "page"}
        if _HOW_MANY.search(query.lower()):
            rank["plan/what_fits"] = math.inf
        return [
            (page, said | ({"plan_work": "serve"} if page == "plan/serving" else {}))
            for page in sorted(SIZING, key=lambda page: -rank.get(page, 0.0))
        ]
    numbers = [word.text for word in split(query) if word.text[0].isdigit()]
    if entry.kind == "format" and numbers:
        (page, cast), bits = entry.links[1], entry.links[0]
        return [(page, {**cast, "rounding_value": numbers[-1]}), bits]
    return entry.links


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, or a Chinese character; `grams`: itself and joined with its neighbours."""

    text: str
    grams: Sequence[str]
    share: float  # of a word's weight: half of a number or character, little of a common word


def split(text: str, most: int = 3) -> list[Word]:
    """Return the words of a text: without case, hyphens, plurals, and the commas of thousands.

    Up to `most` words in Latin letters are joined; of Chinese, pairs of characters are.

    >>> [word.grams for word in split("Qwen3-32B 步长")]
    [('qwen3', 'qwen332b'), ('32b', 'qwen332b'), ('步长',), ('步长',)]
    """
    text = text.lower().replace(",", "")
    stops = {i for found in _CHINESE_STOPS.finditer(text) for i in range(*found.span())}
    found = [(_SUFFIX.sub("", each.group()), each.start()) for each in _WORD.finditer(text)]
    grams: list[list[str]] = [[] for _each in found]
    for size in range(1, max(most, 2) + 1):
        for first in range(len(found) - size + 1):
            texts, places = zip(*found[first : first + size], strict=True)
            gram = "".join(texts)
            is_pair = size == 2 and places[1] - places[0] == 1 and not any(map(str.isascii, texts))
            if (gram.isascii() and size <= most) or is_pair or gram in _CHINESE_WORDS:
                for own in grams[first : first + size]:
                    own.append(gram)
    words = []
    for (word, place), own in zip(found, grams, strict=True):
        says_little = place in stops or word in _STOPS or re.fullmatch("[a-z]", word)
        is_whole = word.isascii() and not word[0].isdigit()
        share = _STOP if says_little else 1.0 if is_whole else 0.5
        words.append(Word(word, tuple(own), share))
    return words


class Index:
    """Which entries hold a word, and how much it says: a rare one more than a common one."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.holds: dict[str, dict[int, float]] = defaultdict(dict)
        names = [[split(name) for name in entry.names] for entry in entries]
        for place, entry in enumerate(entries):
            called = [word for name in names[place] for word in name]
            for words, strength in ((split(entry.body, 1), _IN_BODY), (called, 1.0)):
                for gram in (gram for word in words for gram in word.grams):
                    self.holds[gram][place] = strength
        self.names = [
            [[(word.grams, self.weight(word)) for word in name] for name in own] for own in names
        ]

    def weight(self, word: Word) -> float:
        """Return how much a word says (inverse document frequency, Sparck Jones 1972)."""
        held = [len(self.holds[gram]) for gram in word.grams if gram in self.holds]
        return word.share * (2 - math.log(min(held, default=1), len(self.entries)))

    @lru_cache(maxsize=64)  # noqa: B019  there is one index, kept for ever
    def search(self, query: str) -> Sequence[tuple[float, Entry]]:
        """Return what shares words with a query, best first, each with a score of at most 1."""
        words = split(query)
        shared = defaultdict[int, float](float)
        for word in words:
            best = defaultdict[int, float](float)
            for gram in self.holds.keys() & word.grams:
                for place, strength in self.holds[gram].items():
                    best[place] = max(best[place], strength)
            for place, strength in best.items():
                shared[place] += self.weight(word) * strength
        said = {gram for word in words for gram in word.grams}
        total = sum(map(self.weight, words))
        scored = [
            (self._score(place, weight / total, said), self.entries[place])
            for place, weight in sorted(shared.items())
        ]
        return sorted(scored, key=lambda pair: pair[0], reverse=True)

    def _score(self, place: int, share: float, said: Set[str]) -> float:
        """Return how well an entry fits: a share of the query, and the share of a name in it."""
        named = 0.0
        for nth, name in enumerate(self.names[place]):
            found = sum(weight for grams, weight in name if not said.isdisjoint(grams))
            named = max(named, found / sum(weight for _grams, weight in name) - nth / 1000)
        is_thing = self.entries[place].kind in {"model", "device"}
        return max(share * (0.6 + 0.4 * named), NAMED if is_thing and named > _IN_FULL else 0.0)


@cache
def index() -> Index:
    return Index(all_entries())
