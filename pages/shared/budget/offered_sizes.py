"""Sizes that several pages offer: the same choices on each, so that links between them hold."""

from typing import Final

REPLICAS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096)
TENSOR: Final = (1, 2, 4, 8, 16, 32)
STAGES: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 64)
EXPERTS: Final = (1, 2, 4, 8, 16, 32, 64)
TRAINED_LENGTHS: Final = tuple(2**power for power in range(7, 21))  # tokens of a sequence
MOST_TRAINED: Final = 256  # sequences of a micro-batch
SERVED_CONTEXTS: Final = tuple(2**power for power in range(8, 21))
SERVED_SEQUENCES: Final = tuple(2**power for power in range(12))
