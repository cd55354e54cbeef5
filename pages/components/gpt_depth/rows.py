"""What the browser gets of one model: whole numbers, and a sign for each token that occurs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.models.depth import Depth

CHANCES: Final = 10_000  # a probability is sent as so many of these: 12.34 % is 1234
WEIGHTS: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One model in the picture."""

    title: str  # which model it is, where two stand side by side
    label: str  # the picture as a sentence
    names: Sequence[str]  # of its rows: the embedding and each block
    attention: Sequence[str]  # of the lines above each block: which layer and which heads
    inside: Depth  # the pass


def panel_row(panel: Panel, token_ids: Sequence[int]) -> dict[str, Any]:
    """Return what the browser draws of one model; token ids stand for their signs."""
    weights = np.rint(panel.inside.attention * WEIGHTS).astype(int)  # (L, T, T)
    return {
        "title": panel.title,
        "label": panel.label,
        "names": list(panel.names),
        "attention_names": list(panel.attention),
        "tokens": list(token_ids),
        "says": panel.inside.candidates.tolist(),
        "chances": np.rint(panel.inside.chances * CHANCES).astype(int).tolist(),
        "attention": [
            [row[: at + 1].tolist() for at, row in enumerate(layer)] for layer in weights
        ],
    }


def used_tokens(panels: Sequence[Panel], token_ids: Sequence[int]) -> list[int]:
    said = [panel.inside.candidates.ravel() for panel in panels]
    return [int(number) for number in np.unique(np.concatenate([np.array(token_ids), *said]))]
