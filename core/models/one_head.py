"""One head of one layer: what it was given, and every step to what it gave back.

Shape letters: T tokens, C width, D head width.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.models.stages import Stage


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaling:
    """What dividing by sqrt(D) does, over the pairs that the mask keeps.

    A peak is the largest weight of a row after softmax, on average; the first row has only one and
    does not count.
    """

    head_dim: int
    product_std: float  # standard deviation of q k
    score_std: float  # and of q k / sqrt(D)
    product_peak: float
    score_peak: float


@dataclass(frozen=True, kw_only=True, slots=True)
class OneHead:
    """The tensors of a head."""

    q: Tensor  # (T, D)
    k: Tensor
    v: Tensor
    scores: Tensor  # (T, T) of q k / sqrt(D)
    masked: Tensor  # (T, T), -inf where a token may not look
    weights: Tensor  # (T, T), each row sums to 1
    mixed: Tensor  # (T, D)
    merged: Tensor  # (T, C), beside what the other heads gave
    columns: tuple[int, int]  # the first of its columns in `merged`, and the one after its last
    largest_gap: float  # between `mixed` and what the model's own kernel gave, over all heads

    def looks_at(self, token: int) -> tuple[int, float, float]:
        """Return which token a token looks at most, with its score and its weight."""
        best = int(self.weights[token].argmax())
        return best, float(self.scores[token, best]), float(self.weights[token, best])

    def scaling(self) -> Scaling:
        """Return what the division by sqrt(D) does to this head on this text."""
        width = self.q.shape[-1]
        products = self.masked * math.sqrt(width)  # -inf stays
        seen = self.masked.isfinite()
        return Scaling(
            head_dim=width,
            product_std=float(products[seen].std(correction=0)),
            score_std=float(self.scores[seen].std(correction=0)),
            product_peak=_peak(products),
            score_peak=_peak(self.masked),
        )


def _peak(masked: Tensor) -> float:
    rows = masked[1:] if len(masked) > 1 else masked
    return float(rows.softmax(-1).amax(-1).mean())


def one_head(stages: Sequence[Stage], layer: int, head: int) -> OneHead:
    """Return a head of a layer, from the stages of a text."""
    name = f"blocks.{layer}.attention"
    by_kind = {stage.kind: stage for stage in stages if stage.name.startswith(f"{name}.")}
    scores, merge = by_kind["scores"], by_kind["merge"]
    q, k, v = scores.inputs["q"], scores.inputs["k"], by_kind["mix"].inputs["v"]
    mixed, merged = by_kind["mix"].outputs["mixed"], merge.outputs["merged"]
    width = mixed.shape[-1]
    own = mixed.transpose(1, 2).flatten(2)
    return OneHead(
        q=q[0, head],
        k=k[0, head],
        v=v[0, head],
        scores=scores.outputs["scores"][0, head],
        masked=by_kind["mask"].outputs["masked"][0, head],
        weights=by_kind["softmax"].outputs["weights"][0, head],
        mixed=mixed[0, head],
        merged=merged[0],
        columns=(head * width, (head + 1) * width),
        largest_gap=float(torch.dist(own, merged, p=math.inf)),
    )
