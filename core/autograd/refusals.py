"""What autograd refuses: torch's words, what they mean, what to do, and how to write it instead."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.autograd import rewrites

Rewrite = Callable[[str, int], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A row of `refusals.toml`."""

    kind: str
    words: tuple[str, ...]  # of torch's message; one of them tells it
    sentence: str  # what it means, a text of the catalogue
    advice: str  # what to do, one too

    def rewrite(self, source: str, line: int) -> str:
        """Return the program so that it runs; "" if no way is known."""
        change = _REWRITES.get(self.kind)
        return change(source, line) if change else ""


def _leaf_rewrite(source: str, line: int) -> str:
    """An update by a gradient belongs under no_grad; another write becomes a new tensor."""
    is_update = ".grad" in rewrites.text_of(source, line)
    return (rewrites.without_tracking if is_update else rewrites.out_of_place)(source, {line})


def _summed(source: str, line: int) -> str:
    """Sum what backward is called on, be it at the end of a program that does not call it."""
    changed = rewrites.calling_first(source, line, "backward", "sum")
    return changed or rewrites.ending_in(source, ".sum().backward()")


_REWRITES: Final[Mapping[str, Rewrite]] = {
    "not_scalar": _summed,
    "second_backward": rewrites.retaining,
    "view_in_place": lambda source, line: rewrites.out_of_place(source, {line}),
    "leaf_in_place": _leaf_rewrite,
    "inference": lambda source, _line: rewrites.without_inference_mode(source),
    "numpy": lambda source, line: rewrites.calling_first(source, line, "numpy", "detach"),
    "grad_of_no_leaf": lambda source, _line: rewrites.retained(source),
}
_ROWS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
REFUSALS: Final = tuple(Refusal(**row | {"words": tuple(row["words"])}) for row in _ROWS["refusal"])


def refusal_of(message: str) -> Refusal:
    """Return the row that a message of torch's belongs to; the last one takes all others."""
    return next(row for row in REFUSALS if any(words in message for words in row.words))
