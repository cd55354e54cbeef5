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
NUM_DISTANCES: Final = 16  # between a query and a key that are compared


@dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """What the first block reads of one token, (C,) each."""

    token: NDArray[np.float32]  # the row of the token's id
    position: NDArray[np.float32]  # the row of its place
    total: NDArray[np.float32]  # their sum
    same_bits: bool  # whether the rows of all tokens are one-hot rows times the table


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
    """How alike the rows of a table are: the cosine of every pair."""

    values: NDArray[np.float32]
    width: int  # C
    mean: float
    std: float
    expected_std: float  # 1 / sqrt(C): of random rows, whose cosines are nearly N(0, 1 / C)


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


def random_cosines(width: int) -> Cosines:
    """Return the cosines of random rows, N(0, 1) each."""
    chance = torch.Generator().manual_seed(0)
    return cosines(torch.randn(MAX_ROWS, width, generator=chance))


@dataclass(frozen=True, kw_only=True, slots=True)
class Turned:
    """What rotary positions do to a vector whose pairs all point along the first axis."""

    angles: NDArray[np.float64]  # (D / 2,) by which each pair was turned, in radians, not reduced
    pairs: NDArray[np.float64]  # (D / 2, 2) the pairs afterwards: channel i and channel i + D / 2
    products: NDArray[np.float64]  # q · k where q stands 0, 1, 2 ... tokens behind k, here
    products_at_0: NDArray[np.float64]  # and with k at position 0: only the distance matters


def turn(width: int, position: int) -> Turned:
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
    rotary = rotary_angles(position + NUM_DISTANCES, width, start)
    turned = rotate(start.expand(position + NUM_DISTANCES, width), rotary)  # (T, D)
    there = turned[position]
    channels = torch.arange(0, width, 2, dtype=torch.float64)
    return Turned(
        angles=(position * ROTARY_BASE ** (-channels / width)).numpy(),
        pairs=torch.stack((there[:half], there[half:]), dim=-1).numpy(),
        products=(turned[position:] @ there).numpy(),
        products_at_0=(turned[:NUM_DISTANCES] @ turned[0]).numpy(),
    )
