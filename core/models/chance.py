"""Random numbers that come again: torch's belong to the whole process, so who draws is alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Final

import torch

_ALONE: Final = RLock()  # what draws inside what draws is of one thread


@contextmanager
def alone_with_chance(seed: int = 0) -> Iterator[None]:
    """Draw from a seed, and give torch's state back; one thread at a time.

    Warnings that are recorded within are told apart from other threads' by the same lock.
    """
    with _ALONE, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
