"""Attention heads merged with and without the transpose: same shape, other elements."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.expressions.dispatch import storage_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where an element comes from: its token, its head, its place in the head."""

    token: int
    head: int
    dim: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """Both ways to bring (B, H, T, D) to (B, T, H*D), for a batch of 1; a row is a token."""

    right: tuple[tuple[Place, ...], ...]  # q.transpose(1, 2).reshape(1, T, H * D)
    wrong: tuple[tuple[Place, ...], ...]  # q.reshape(1, T, H * D)
    num_displaced: int  # elements that stand elsewhere in the second
    bytes_copied: int  # by the first in float32; the second is a view

    @property
    def num_elements(self) -> int:
        """Of either."""
        return sum(map(len, self.right))

    @property
    def num_mixed_rows(self) -> int:
        """Rows of the wrong merge that hold elements of another token than their own."""
        return sum(
            any(place.token != token for place in row) for token, row in enumerate(self.wrong)
        )


def merge_heads(num_tokens: int, num_heads: int, head_dim: int) -> Merged:
    """Run both merges on real tensors and follow every element; lengths are from 1."""
    size = (1, num_heads, num_tokens, head_dim)
    q = torch.arange(num_heads * num_tokens * head_dim, dtype=torch.float32).view(size)
    target = (1, num_tokens, num_heads * head_dim)
    right, wrong = q.transpose(1, 2).reshape(target), q.reshape(target)
    return Merged(
        right=_rows(right, size),
        wrong=_rows(wrong, size),
        num_displaced=int((right != wrong).sum()),
        bytes_copied=_bytes_copied(right, q),
    )


def _rows(x: Tensor, size: tuple[int, ...]) -> tuple[tuple[Place, ...], ...]:
    """Return the places that the numbers 0, 1, 2, ... had in a tensor of that size."""
    _batch, head, token, dim = torch.unravel_index(x[0].long(), size)
    triples = torch.stack([token, head, dim], dim=-1).tolist()
    return tuple(tuple(Place(token=t, head=h, dim=d) for t, h, d in row) for row in triples)


def merge_cost(batch: int, num_heads: int, num_tokens: int, head_dim: int) -> int:
    """Return the bytes that a merge with transpose copies in float32, on tensors without data.

    >>> merge_cost(2, 12, 128, 64)  # GPT-2
    786432
    """
    q = torch.empty(batch, num_heads, num_tokens, head_dim, device="meta")
    merged = q.transpose(1, 2).contiguous().view(batch, num_tokens, num_heads * head_dim)
    return _bytes_copied(merged, q)


def _bytes_copied(x: Tensor, of: Tensor) -> int:
    return 0 if storage_id(x) == storage_id(of) else x.untyped_storage().nbytes()
