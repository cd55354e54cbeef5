"""The empty charts of the live run, built once for each look and language.

Building them took half the time of a rerun: the browser fills them, so they hold no numbers.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from core.figures.theme import Mode
from core.figures.train.live_run.live import specs_of_both_themes
from core.figures.train.live_run.live_parts import LiveLook
from core.language import current_language

Figures = Mapping[Mode, Sequence[Mapping[str, Any]]]


def empty_figures(seen: LiveLook) -> Figures:
    """Return the charts in light and in dark, in the reader's language; not to be changed."""
    return _built(seen, current_language())


@lru_cache(maxsize=32)
def _built(seen: LiveLook, _language: str) -> Figures:
    return specs_of_both_themes(seen)
