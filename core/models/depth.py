"""A forward pass as a picture needs it: what the model would say after each block, and who looks.

Shape letters: L layers, H heads, T tokens, K candidates.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from core.models.gpt import GPT
from core.models.lens import Inside, inside

NUM_THREADS: Final = torch.get_num_threads()


@dataclass(frozen=True, kw_only=True, slots=True)
class Depth:
    """What a model holds between a text and its next token.

    Attributes:
        candidates: (L + 1, T, K) token ids after the embedding and each block, likeliest first.
        chances: (L + 1, T, K) their probabilities.
        entropy: (L + 1, T) of the whole distributions, in nats.
        settling: (L + 1, T) probability of the token that is likeliest in the end.
        output: (V,) probabilities of the next token after the last one.
        attention: (L, T, T) weights of the chosen head or the mean of all; rows look, and sum to 1.
    """

    candidates: NDArray[np.int64]
    chances: NDArray[np.float64]
    entropy: NDArray[np.float64]
    settling: NDArray[np.float64]
    output: NDArray[np.float64]
    attention: NDArray[np.float64]

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
        return _depth(inside(model, token_ids), head, num_candidates)


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


def _depth(seen: Inside, head: int | None, num_candidates: int) -> Depth:
    chances = seen.lens.double().softmax(-1)  # (L + 1, T, V)
    best, ids = chances.topk(min(num_candidates, chances.shape[-1]), dim=-1)
    chosen = ids[-1, :, 0].expand(chances.shape[:2])  # (L + 1, T)
    maps = seen.maps.double()  # (L, H, T, T)
    return Depth(
        candidates=ids.numpy(),
        chances=best.numpy(),
        entropy=torch.special.entr(chances).sum(-1).numpy(),
        settling=chances.gather(-1, chosen[..., None])[..., 0].numpy(),
        output=chances[-1, -1].numpy(),
        attention=(maps.mean(1) if head is None else maps[:, head]).numpy(),
    )
