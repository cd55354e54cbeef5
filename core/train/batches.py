"""Batches that depend on the seed and the step only, so that a resume needs no random state."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
_TRAINING: Final = 1  # the second half of Philox's key: one stream of numbers for each use


def batch_positions(seed: int, step: int, count: int, num_tokens: int, seq_len: int) -> Positions:
    """Return where the sequences of a step begin in the training text.

    Args:
        seed: The run's seed.
        step: The optimizer step, from 1.
        count: Sequences of the step, over all accumulation passes.
        num_tokens: Length of the training text.
        seq_len: Context length; a sequence and its target need seq_len + 1 tokens.

    Returns:
        (count,) start indices.

    Source: Salmon et al. 2011, Parallel Random Numbers: As Easy as 1, 2, 3 (Philox).
    """
    counter = np.random.Philox(key=[seed, _TRAINING], counter=[0, 0, 0, step])
    return np.random.Generator(counter).integers(0, num_tokens - seq_len, size=count)


def validation_positions(count: int, num_tokens: int, seq_len: int) -> Positions:
    """Return `count` start indices spread evenly over the validation text; no chance is used."""
    return np.linspace(0, num_tokens - seq_len - 1, num=count).astype(np.int64)
