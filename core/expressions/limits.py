"""How much an expression may ask for; all of it is checked before memory is allocated."""

from dataclasses import dataclass
from typing import Final

MAX_CHARACTERS: Final = 500
MAX_NODES: Final = 200
MAX_DEPTH: Final = 75
MAX_NAME: Final = 16
MAX_STRING: Final = 120
MAX_ITEMS: Final = 64  # of a tuple or list
MAX_VALUES: Final = 1_024  # of a list with all lists in it, however often a name repeats them
MAX_LEVELS: Final = 16  # of lists in lists
INT64: Final = 2**63 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one evaluation may use.

    Attributes:
        seconds: Of the whole program; looked at before each part of an expression, and within a
            backward pass.
        ends: Of `time.monotonic`, where several evaluations share the seconds of one; 0: from now.
    """

    num_elements: int  # of one tensor
    num_bytes: int  # of all storages that a program makes
    flops: int  # of one product of matrices
    rank: int = 8  # dimensions of one tensor
    num_steps: int = 24  # operations that give tensors
    num_outputs: int = 64  # tensors of one operation
    num_calls: int = 5_000  # of PyTorch's own operations underneath one of the program's
    seconds: float = 10.0
    ends: float = 0.0
    on_meta: bool = False  # whether tensors have no data: then sizes cost nothing


MATERIALIZED: Final = Limits(num_elements=262_144, num_bytes=16_000_000, flops=50_000_000)
# A layer of 768 x 768 and its gradients: of what is large, only statistics are kept.
GRADIENTS: Final = Limits(
    num_elements=1_048_576, num_bytes=96_000_000, flops=500_000_000, num_steps=100, seconds=5.0
)
ON_META: Final = Limits(num_elements=INT64, num_bytes=INT64, flops=INT64, on_meta=True)
