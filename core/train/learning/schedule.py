"""The batch and the learning rate of a step: they follow from its number and the config alone.

So a resume needs no random state, and who asks for them needs no torch.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.train.config import TrainConfig

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


def scheduled_learning_rate(config: TrainConfig, step: int) -> float:
    """Return the learning rate of a step (from 1): linear warm-up, then half a cosine.

    Source: Loshchilov & Hutter 2017, SGDR, equation 5, with one cycle.
    """
    if step <= config.warmup_steps:
        return config.learning_rate * step / (config.warmup_steps + 1)
    after_warmup = max(config.num_steps - config.warmup_steps, 1)
    progress = min((step - config.warmup_steps) / after_warmup, 1.0)
    height = (1 + math.cos(math.pi * progress)) / 2
    return config.min_learning_rate + (config.learning_rate - config.min_learning_rate) * height
