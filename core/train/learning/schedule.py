"""The batch and the learning rate of a step: they follow from its number and the config alone.

So a resume needs no random state, and who asks for them needs no torch.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.train.config import TrainConfig

NUM_MILESTONES: Final = 7  # behind step 0
Positions = NDArray[np.int64]
# The first tenth of a time limit does not count: on a machine that keeps the pace that was measured
# before the start, the steps alone decide, and the same seed gives the same losses.
FREE_SHARE_OF_TIME: Final = 0.1
DROPS: Final = (0.5, 0.75)  # shares of a run at which "step" takes a tenth of the rate
_TRAINING: Final = 1  # the second half of Philox's key: one stream of numbers for each use
_DROPOUT: Final = 2


def batch_positions(seed: int, step: int, count: int, num_tokens: int, seq_len: int) -> Positions:
    """Return the (count,) start indices of a step's sequences in the training text.

    The step counts from 1; `count` are the sequences of all its accumulation passes. A sequence and
    its target need seq_len + 1 tokens.

    Source: Salmon et al. 2011, Parallel Random Numbers: As Easy as 1, 2, 3 (Philox).
    """
    counter = np.random.Philox(key=[seed, _TRAINING], counter=[0, 0, 0, step])
    return np.random.Generator(counter).integers(0, num_tokens - seq_len, size=count)


def chance_of_step(seed: int, step: int) -> int:
    """Return the seed of a step's dropout, so that a resume draws what the run would have drawn."""
    return int(np.random.Philox(key=[seed, _DROPOUT], counter=[0, 0, 0, step]).random_raw() >> 1)


def validation_positions(count: int, num_tokens: int, seq_len: int) -> Positions:
    """Return `count` start indices spread evenly over the validation text; no chance is used."""
    return np.linspace(0, num_tokens - seq_len - 1, num=count).astype(np.int64)


def scheduled_learning_rate(config: TrainConfig, step: int, trained_seconds: float = 0.0) -> float:
    """Return the learning rate of a step (from 1): linear warm-up, then what the schedule says.

    How far it has come is the share of the steps or of the time, whichever is larger: a run that
    its time limit will end has come down to its last rate by then.

    Source: Loshchilov & Hutter 2017, SGDR, equation 5, with one cycle; StepLR of torch by a tenth.
    """
    highest, warmup = config.learning_rate, config.warmup_steps
    progress = max((step - warmup) / max(config.num_steps - warmup, 1), 0.0)
    progress = min(max(progress, _share_of_time(config, trained_seconds)), 1.0)
    rate = _SCHEDULES[config.schedule](config.min_learning_rate, highest, progress)
    return min(highest * step / (warmup + 1), rate) if step <= warmup else rate


# From the lowest rate, the highest, and how far the run has come behind its warm-up.
_SCHEDULES: Final[Mapping[str, Callable[[float, float, float], float]]] = {
    "cosine": lambda low, high, done: low + (high - low) * (1 + math.cos(math.pi * done)) / 2,
    "linear": lambda low, high, done: low + (high - low) * (1 - done),
    "constant": lambda _low, high, _done: high,
    "step": lambda low, high, done: max(high * 0.1 ** sum(done >= at for at in DROPS), low),
}


def _share_of_time(config: TrainConfig, trained_seconds: float) -> float:
    if config.max_seconds is None:
        return 0.0
    free = FREE_SHARE_OF_TIME * config.max_seconds
    return max(trained_seconds - free, 0.0) / (config.max_seconds - free)


def milestone_steps(num_steps: int) -> tuple[int, ...]:
    """Return about eight steps of a run, from 0 to its last, evenly spaced on a logarithmic axis.

    A model learns most in its first steps, so that they lie closest together there.

    >>> milestone_steps(8000)
    (0, 4, 13, 47, 170, 614, 2216, 8000)
    """
    powers = (round(num_steps ** (part / NUM_MILESTONES)) for part in range(1, NUM_MILESTONES + 1))
    return tuple(sorted({0, *powers}))
