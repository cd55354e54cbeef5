"""Attention masks, run live: who sees whom, and what becomes of a row without any key.

All scores are 0, so that each key that is seen has the weight 1 / (number of keys seen).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  the field's own name

MaskKind = Literal["tril", "triu", "padding"]
MASK_KINDS: Final[tuple[MaskKind, ...]] = ("tril", "triu", "padding")
Route = Literal["sdpa", "mha", "softmax"]
KEEPS_TRUE: Final[Mapping[Route, bool]] = {"sdpa": True, "mha": False, "softmax": False}
"""Where a mask goes -> whether True means that the key is seen."""
MAX_LENGTH: Final = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class MaskSpec:
    """A mask and where it goes.

    "sdpa" is F.scaled_dot_product_attention, "mha" nn.MultiheadAttention, "softmax" a masked_fill
    with -inf before softmax.
    """

    kind: MaskKind  # tril or triu of ones, or True for tokens that are no padding
    length: int  # of the sequence
    amount: int  # the diagonal of tril and triu; of padding, the tokens that are padding
    inverted: bool  # whether `~` stands before it
    route: Route

    @property
    def num_real(self) -> int:
        """Tokens that are no padding."""
        return self.length - (self.amount if self.kind == "padding" else 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Masked:
    """What torch made of a mask; rows are queries, columns are keys."""

    mask: tuple[tuple[bool, ...], ...]  # as it was handed over
    seen: tuple[tuple[bool, ...], ...]  # whether a query sees a key
    weights: tuple[tuple[float, ...], ...]  # as torch returned them
    num_future: int  # pairs that are seen although the key comes after the query
    num_padding: int  # keys that are seen by some query although they are padding
    empty: tuple[int, ...]  # queries that see no key
    num_nan: int  # rows of weights that are NaN

    @property
    def num_seen(self) -> int:
        """All pairs of a query and a key that it sees."""
        return sum(map(sum, self.seen))


def mask_tensor(spec: MaskSpec) -> Tensor:
    """Return the mask, (queries, keys), bool."""
    whole = torch.ones(spec.length, spec.length, dtype=torch.bool)
    if spec.kind == "padding":
        mask = (torch.arange(spec.length) < spec.length - spec.amount).expand_as(whole)
    else:
        mask = whole.tril(spec.amount) if spec.kind == "tril" else whole.triu(spec.amount)
    return ~mask if spec.inverted else mask


def run_mask(spec: MaskSpec) -> Masked:
    """Hand a mask to torch and return what came back."""
    mask = mask_tensor(spec)
    seen = mask if KEEPS_TRUE[spec.route] else ~mask
    with torch.no_grad():
        weights = _weights(mask, spec.route)
    return Masked(
        mask=tuple(map(tuple, mask.tolist())),
        seen=tuple(map(tuple, seen.tolist())),
        weights=tuple(map(tuple, weights.tolist())),
        num_future=int(seen.triu(1).sum()),
        num_padding=int(seen[:, spec.num_real :].any(0).sum()),
        empty=tuple((~seen.any(-1)).nonzero().flatten().tolist()),
        num_nan=int(weights.isnan().any(-1).sum()),
    )


def _weights(mask: Tensor, route: Route) -> Tensor:
    """Return the weights of the attention, (queries, keys), for scores of 0."""
    length = len(mask)
    zeros = torch.zeros(1, length, length)
    if route == "sdpa":  # with the identity for v, the output is the weights
        return F.scaled_dot_product_attention(zeros, zeros, torch.eye(length)[None], mask)[0]
    if route == "mha":
        attention = nn.MultiheadAttention(length, 1, batch_first=True)
        weights: Tensor = attention(zeros, zeros, zeros, attn_mask=mask)[1]
        return weights[0]
    return zeros[0].masked_fill(mask, float("-inf")).softmax(-1)
