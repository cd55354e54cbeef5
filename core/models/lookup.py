"""What an embedding is: a row that is picked, positions that are added or that turn.

Shape letters: T tokens, V vocabulary, C hidden width, D head width.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.language import _
from core.models.attention import ROTARY_BASE, rotary_angles, rotate
from core.models.gpt import GPT

MAX_ROWS: Final = 256  # whose pairs are compared; 32,640 of them
MAX_WIDTH: Final = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """What the first block reads of one token.

    Attributes:
        token: (C,) the row of the token's id.
        position: (C,) the row of its place.
        total: (C,) their sum.
        same_bits: Whether the rows of all tokens are, bit for bit, one-hot rows times the table.
    """

    token: NDArray[np.float32]
    position: NDArray[np.float32]
    total: NDArray[np.float32]
    same_bits: bool


@torch.no_grad()
def look_up(model: GPT, token_ids: tuple[int, ...], at: int) -> Looked:
    """Return what the embedding makes of the token at a place, (T,) ids in all."""
    ids = torch.tensor(token_ids)
    rows = model.tokens.weight[ids]  # (T, C)
    one_hot = F.one_hot(ids, model.shape.vocab_size).to(rows.dtype)  # (T, V)
    token, position = rows[at], model.positions.weight[at]
    return Looked(
        token=token.numpy(),
        position=position.numpy(),
        total=(token + position).numpy(),
        same_bits=torch.equal(rows, one_hot @ model.tokens.weight),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Cosines:
    """How alike the rows of a table are.

    Attributes:
        values: Cosine of every pair of rows.
        width: C.
        mean, std: Of the values.
        expected_std: 1 / sqrt(C): of random rows, whose cosines are nearly N(0, 1 / C).
    """

    values: NDArray[np.float32]
    width: int
    mean: float
    std: float
    expected_std: float


@torch.no_grad()
def cosines(table: Tensor) -> Cosines:
    """Return the cosines of all pairs of a table's first rows, (V, C)."""
    unit = F.normalize(table[:MAX_ROWS].float(), dim=-1)
    pairs = torch.triu_indices(len(unit), len(unit), offset=1)
    values = (unit @ unit.T)[pairs[0], pairs[1]]
    return Cosines(
        values=values.numpy(),
        width=table.shape[1],
        mean=values.mean().item(),
        std=values.std().item(),
        expected_std=1 / math.sqrt(table.shape[1]),
    )


def random_cosines(width: int, seed: int = 0) -> Cosines:
    """Return the cosines of random rows, N(0, 1) each.

    Raises:
        ValueError: If the width is not between 2 and 4096.
    """
    if not 2 <= width <= MAX_WIDTH:
        raise ValueError(
            _("The width is {width}; choose one from 2 to {most}.").format(
                width=width, most=MAX_WIDTH
            )
        )
    chance = torch.Generator().manual_seed(seed)
    return cosines(torch.randn(MAX_ROWS, width, generator=chance))


@dataclass(frozen=True, kw_only=True, slots=True)
class Turned:
    """What rotary positions do to a vector whose pairs all point along the first axis.

    Attributes:
        angles: (D / 2,) by which each pair was turned, in radians, not reduced.
        pairs: (D / 2, 2) the pairs afterwards: channel i and channel i + D / 2.
        products: q · k where q stands 0, 1, 2 ... tokens behind k, at this position of k.
        products_at_0: The same with k at position 0: equal, only the distance matters.
    """

    angles: NDArray[np.float64]
    pairs: NDArray[np.float64]
    products: NDArray[np.float64]
    products_at_0: NDArray[np.float64]


def turn(width: int, position: int, num_distances: int = 16) -> Turned:
    """Return what rotary positions (Su et al. 2021) do to a head of that width at a position.

    Raises:
        ValueError: If the width is odd: a channel would be left without a partner.
    """
    if width < 2 or width % 2:
        below = max(width - 1, 2)
        raise ValueError(
            _(
                "The head width is {width}: rotary positions turn pairs of channels, so it must be "
                "even. Choose {below} or {above}."
            ).format(width=width, below=below, above=below + 2)
        )
    half = width // 2
    start = torch.zeros(width, dtype=torch.float64)
    start[:half] = 1  # each pair is (1, 0)
    rotary = rotary_angles(position + num_distances, width, start)
    turned = rotate(start.expand(position + num_distances, width), rotary)  # (T, D)
    there = turned[position]
    channels = torch.arange(0, width, 2, dtype=torch.float64)
    return Turned(
        angles=(position * ROTARY_BASE ** (-channels / width)).numpy(),
        pairs=torch.stack((there[:half], there[half:]), dim=-1).numpy(),
        products=(turned[position:] @ there).numpy(),
        products_at_0=(turned[:num_distances] @ turned[0]).numpy(),
    )
