"""Foreign words within our sentences: a file's name, a tensor's name, what a reader typed."""

import re
from typing import Final

_MARKUP: Final = re.compile(r"[\\`*_\[\]()!<>$#|~]")


def as_typed(text: str) -> str:
    """Return a text so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\g<0>", text)
