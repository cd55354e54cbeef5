"""How a sample is shaded: the stronger the color, the less likely the model thought a character.

The live page does the same in the browser (surprise.js); a browser test compares the two.
"""

from collections.abc import Sequence
from typing import Any, Final

from core.language import N_

MOST_BITS: Final = 8.0  # from here on as strong as it gets
STRONGEST: Final = 0.45  # of the colour: text over it still has a contrast of 4.5
MEAN_SURPRISE: Final = N_("mean surprise: {bits} bits per character")

Stretch = Sequence[Any]  # text, bits and candidates, as a sample event holds them


def shade(bits: float | None) -> float:
    """Return how much of the colour lies behind a stretch of that surprise, 0 to STRONGEST.

    >>> shade(0.0), shade(4.0), shade(30.0)
    (0.0, 0.225, 0.45)
    """
    return STRONGEST * min(max(bits or 0.0, 0.0) / MOST_BITS, 1.0)


def mean_surprise(written: Sequence[Stretch]) -> float | None:
    """Return the bits of a character on average; None of a sample that has stored none.

    >>> mean_surprise([["a", 3.0, []], ["bc", 3.0, []]])
    2.0
    """
    num_characters = sum(len(text) for text, _bits, _candidates in written)
    if not num_characters:
        return None
    return sum(bits or 0.0 for _text, bits, _candidates in written) / num_characters
