"""Several words in a sentence, "x, row and y", and one sentence after another."""

from collections.abc import Iterable

from core.language.catalogue import _


def listed(words: Iterable[object]) -> str:
    """Return names or numbers as a list with "and" before the last; nothing gives "".

    >>> listed(["x", "row", "y"])
    'x, row and y'
    """
    *others, last = list(map(str, words)) or [""]
    if not others:
        return last
    return _("{others} and {last}").format(others=_(", ").join(others), last=last)


def followed_by(*sentences: str) -> str:
    """Return sentences with the space between them that the reader's language has."""
    between = _("{sentence} {next_sentence}").format(sentence="", next_sentence="")
    return between.join(filter(None, sentences))
