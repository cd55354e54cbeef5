"""What the reader chose to quantize, wherever it comes from."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.dtypes.rounding import Floats

PAGE: Final = "quant"
Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Chosen:
    """The tensor that is looked at.

    Attributes:
        x: The tensor as (rows, columns).
        shape: The shape that it has, before it was cut.
        code: Python that makes the same tensor.
        imports: The lines that this Python needs first.
        stored_as: The word of a file whose values are codes that a scale may belong to, or "".
    """

    x: Floats
    shape: Shape
    code: str
    imports: tuple[str, ...]
    stored_as: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether only a part of it is looked at."""
        return math.prod(self.shape) > self.x.size

    @property
    def is_folded(self) -> bool:
        """Whether it has other axes than rows and columns, but is looked at in full."""
        return self.shape != self.x.shape and not self.is_cut

    @property
    def is_zero(self) -> bool:
        """Whether there is nothing to lose."""
        return not self.x.any()

    @property
    def num_not_finite(self) -> int:
        """How many values are NaN or infinite."""
        return int((~np.isfinite(self.x)).sum())


def sizes(shape: Shape) -> str:
    """Return a shape as it is spoken, a single number's as "()"."""
    return " × ".join(map(str, shape)) or "()"
