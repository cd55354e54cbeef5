"""A forward pass as a picture needs it: what the model would say after each block, and who looks.

The logit lens reads the residual stream between two blocks as if it were the last one, with the
final norm and the head (nostalgebraist 2020, "interpreting GPT: the logit lens").

Shape letters: L layers, H heads, T tokens, K candidates, V vocabulary.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.models.attention_steps import attention_steps
from core.models.gpt import GPT
from core.models.recording import TokenIds, record

NUM_THREADS: Final = torch.get_num_threads()


@dataclass(frozen=True, kw_only=True, slots=True)
class Depth:
    """What a model holds between a text and its next token."""

    candidates: NDArray[np.int64]  # (L + 1, T, K) after the embedding and each block, best first
    chances: NDArray[np.float64]  # (L + 1, T, K) their probabilities
    settling: NDArray[np.float64]  # (L + 1, T) of the token that is likeliest in the end
    output: NDArray[np.float64]  # (V,) of the next token after the last one
    attention: NDArray[np.float64]  # (L, T, T) of a head or the mean of all; rows look, sum to 1

    @property
    def vocab_size(self) -> int:
        """Number of tokens that the model can say."""
        return len(self.output)

    @property
    def uniform_loss(self) -> float:
        """Loss of a model that finds every token equally likely: ln V, in nats."""
        return math.log(self.vocab_size)


def depth(model: GPT, token_ids: Sequence[int], head: int | None, num_candidates: int = 8) -> Depth:
    """Return what one pass over the tokens leaves behind.

    Args:
        model: In evaluation mode.
        token_ids: (T,), at least one and at most the model's context.
        head: Number of the head whose weights are wanted; None for the mean of all heads.
        num_candidates: K; fewer where the vocabulary is smaller.
    """
    with one_thread():
        maps, lens = inside(model, token_ids)
        chances = lens.double().softmax(-1)  # (L + 1, T, V)
        best, ids = chances.topk(min(num_candidates, chances.shape[-1]), dim=-1)
        chosen = ids[-1, :, 0].expand(chances.shape[:2])  # (L + 1, T)
        maps = maps.double()
    return Depth(
        candidates=ids.numpy(),
        chances=best.numpy(),
        settling=chances.gather(-1, chosen[..., None])[..., 0].numpy(),
        output=chances[-1, -1].numpy(),
        attention=(maps.mean(1) if head is None else maps[:, head]).numpy(),
    )


@torch.no_grad()
def inside(model: GPT, token_ids: TokenIds) -> tuple[Tensor, Tensor]:
    """Return attention and logit lens of one text, (T,) or (1, T), from one forward pass.

    (L, H, T, T), the share of its attention that each token (a row) gives each other, and
    (L + 1, T, V), the scores of the next token after the embedding and each block.
    """
    seen = record(model, token_ids)
    steps = [attention_steps(*seen.attended(layer)) for layer in range(len(model.blocks))]
    lens = [model.head(model.norm(x)) for x in seen.residuals()[:-1]]
    return torch.cat([each.weights for each in steps]), torch.cat([*lens, seen.logits])


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one core: what takes 3 ms waits up to 0.3 s for torch to start helpers.

    They are started anew for every thread that asks torch, as each run of a page is (measured).
    """
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(NUM_THREADS)
