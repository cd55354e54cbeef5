"""How far a model can be split: the same choices on each page, so that links between them hold."""

from typing import Final

REPLICAS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096)
TENSOR: Final = (1, 2, 4, 8, 16, 32)
STAGES: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 64)
EXPERTS: Final = (1, 2, 4, 8, 16, 32, 64)
