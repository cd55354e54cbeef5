"""What a box is called, in as few letters as its picture has room for."""

import re
from collections.abc import Iterable
from typing import Final

MAX_LABEL: Final = 30  # letters
LONG: Final = 14  # on a projector
MAX_ON_PROJECTOR: Final = 18
_ARGUMENTS: Final = re.compile(r"\(.+\)")


def short_label(label: str, most: int = MAX_LABEL) -> str:
    line = " ".join(label.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def own_part(label: str, makers: Iterable[str] = ()) -> str:
    """Return a long label without what stands in brackets, or in the boxes that it is made of.

    >>> own_part("x ** 2 + 3 * x + 1", ["x ** 2 + 3 * x"])
    '… + 1'
    >>> own_part("F.mse_loss(out, y)")
    'F.mse_loss(…)'
    """
    line = short_label(label, len(label))
    for maker in sorted(makers, key=len, reverse=True):
        if len(line) > LONG and len(maker) > 1:
            line = re.sub(rf"(?<!\w){re.escape(maker)}(?!\w)", "…", line)
    if len(line) > LONG:
        line = _ARGUMENTS.sub("(…)", line, count=1)
    return short_label(line, MAX_ON_PROJECTOR)
