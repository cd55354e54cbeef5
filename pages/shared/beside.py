"""Two sides beside each other: a tab says what its rows are for a case, and both are shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.budget.comparison.side_by_side import Pair, Rows, side_by_side
from core.figures.side_by_side import Names, ratio_text, side_by_side_picture
from core.language import N_, _
from pages.shared.answer import written
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

MOST_WORDS: Final = {False: 3, True: 1}  # of a name: it stands in one line of the legend
_MORE: Final[Mapping[str, tuple[str, str]]] = {
    "bytes": (
        N_("B needs {ratio} times A's memory: {b} against {a}"),
        N_("A and B need the same memory: {a}"),
    ),
    "parameters": (
        N_("B has {ratio} times A's parameters: {b} against {a}"),
        N_("A and B have as many parameters: {a}"),
    ),
    "s": (
        N_("B takes {ratio} times as long as A: {b} against {a}"),
        N_("A and B take the same time: {a}"),
    ),
    "FLOPs": (
        N_("B takes {ratio} times A's FLOPs: {b} against {a}"),
        N_("A and B take the same FLOPs: {a}"),
    ),
    "tokens/s": (
        N_("B is {ratio} times as fast as A: {b} against {a}"),
        N_("A and B are equally fast: {a}"),
    ),
    "1": (
        N_("B reaches {ratio} times A's share of the peak: {b} against {a}"),
        N_("A and B reach the same share of the peak: {a}"),
    ),
}
"""Unit of the first row -> what is said of two amounts, and of two that are alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """One side of a comparison.

    Attributes:
        name: What it is, in a few translated words.
        rows: Translated label and number, the one that the headline compares first.
        verdict: Whether it fits, translated; "" where that is no question.
        code: Python that computes the numbers.
    """

    name: str
    rows: Rows
    verdict: str = ""
    code: str = ""


def beside(side_of: Callable[..., Compared]) -> Callable[[Sequence[Any], Sequence[Any]], Shown]:
    """Return what shows two sides, given what a tab says of one.

    Args:
        side_of: Takes what the tab's `show` takes.
    """
    return lambda a, b: shown(side_of(*a), side_of(*b))


def named_beside(
    words_of: Callable[[Any], Sequence[str]], side_of: Callable[[Any, str], Compared]
) -> Callable[[Sequence[Any], Sequence[Any]], Shown]:
    """Return what shows two sides that are called by the words in which they differ.

    Args:
        words_of: Takes what the page has chosen.
        side_of: Takes that and the name.
    """

    def show(a: Sequence[Any], b: Sequence[Any]) -> Shown:
        both = (a[0], b[0])
        return shown(*map(side_of, both, two_names(*map(words_of, both))))

    return show


def two_names(a: Sequence[str], b: Sequence[str]) -> tuple[str, str]:
    """Return what two sides are called: the first word of each, and the first that differ.

    >>> two_names(("GPT-2", "FP8", "1 × T4"), ("GPT-2", "BF16", "1 × T4"))
    ('GPT-2, FP8', 'GPT-2, BF16')
    """
    differing = [both for both in zip(a, b, strict=True) if len({*both}) > 1]
    small = presenting() and differing  # on a projector the legend has no room for what is alike
    words = differing if small else list(dict.fromkeys([(a[0], b[0]), *differing]))
    most = MOST_WORDS[presenting()]
    more = _(", ") + "…" if len(words) > most else ""
    one, other = zip(*words[:most], strict=True)
    return _(", ").join(one) + more, _(", ").join(other) + more


def shown(a: Compared, b: Compared) -> Shown:
    """Return the picture of two sides, the sentence that compares them, and both numbers."""
    pairs = side_by_side(a.rows, b.rows)
    picture = side_by_side_picture(pairs, Names(a=a.name, b=b.name), written, look())
    sides = [("A", a), ("B", b)]
    return Shown(
        headline=sentence(pairs[0], (a.verdict, b.verdict)),
        charts=[Chart(picture=picture, file_name="a-and-b", key="compared")],
        numbers=[(f"{letter} · {side.rows[0][0]}", side.rows[0][1]) for letter, side in sides],
        numbers_below=True,
        code="\n".join(
            f"# {letter}: {side.name}{side.code}" for letter, side in sides if side.code
        ),
    )


def sentence(pair: Pair, verdicts: Sequence[str] = ("", "")) -> str:
    """Return how many times A's number B's is, and whether they fit.

    Args:
        pair: The row that matters most.
        verdicts: Whether A fits and B does; "" where that is no question.
    """
    other, same = _MORE[pair.unit]
    a, b = (written(amount, pair.unit) for amount in pair.amounts)
    if pair.difference and pair.ratio is None:
        other = N_("A: {a}, B: {b}")
    ratio = ratio_text(pair.ratio).removesuffix(" ×")
    said = _(other if pair.difference else same).format(ratio=ratio, a=a, b=b)
    if not all(verdicts):
        return said
    return _("{said} (A: {a}, B: {b})").format(said=said, a=verdicts[0], b=verdicts[1])
