"""What a cast did to one number: the bits kept and cut off, its two neighbours, and why."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from core.dtypes.cast.cast_steps import HALF, Reason, tail_bits
from core.dtypes.exact import to_float

Outcome = Literal["exact", "rounded", "underflow", "overflow", "infinity", "nan"]
TAIL_BITS: Final = 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A neighbour of the number; `code` is None for one that the format does not reach."""

    code: int | None
    exact: Fraction

    @property
    def value(self) -> float:
        """The candidate as float64."""
        return to_float(self.exact)


@dataclass(frozen=True, kw_only=True, slots=True)
class CastTrace:
    """What happened to one number.

    Attributes:
        value: The number; a float for infinity, NaN and -0.
        kept: The bits of the magnitude that are kept, the hidden one first; empty for a codebook.
        cut: What is cut off the magnitude, in units in the last place: 0 <= cut < 1.
        lower: The neighbour at or below the number; None if there is none.
        upper: The neighbour at or above it.
        share: Where the number lies between them: 0 at the lower, 1 at the upper one.
        code: The code that is stored.
        result: What is stored, as float64.
        exact_result: What is stored; None for infinity and NaN.
        outcome: What a lamp would show.
        reason: Why this candidate won, as a key.
        is_subnormal: Whether what is stored has fewer significant bits than a normal number.
    """

    value: Fraction | float
    kept: str = ""
    cut: Fraction = Fraction(0)
    lower: Candidate | None = None
    upper: Candidate | None = None
    share: Fraction = Fraction(0)
    code: int
    result: float
    exact_result: Fraction | None
    outcome: Outcome
    reason: Reason
    is_subnormal: bool = False

    @property
    def tail(self) -> str:
        """The bits behind the kept ones, at most 24; empty when all are zero."""
        return tail_bits(self.cut, TAIL_BITS)

    @property
    def guard(self) -> int:
        """The first bit behind the kept ones."""
        return int(self.cut >= HALF)

    @property
    def round_bit(self) -> int:
        """The second bit behind the kept ones."""
        return int(self.cut * 2 % 1 >= HALF)

    @property
    def sticky(self) -> int:
        """Whether any later bit is one."""
        return int(self.cut * 4 % 1 > 0)

    @property
    def is_tie(self) -> bool:
        """Whether the number lies exactly halfway between its neighbours."""
        return self.share == HALF

    @property
    def error(self) -> Fraction | None:
        """What is stored minus the number; None where one of them is no finite number."""
        if self.exact_result is None or not isinstance(self.value, Fraction):
            return None
        return self.exact_result - self.value

    @property
    def relative_error(self) -> Fraction | None:
        """The error over the number's magnitude; None for zero and specials."""
        error = self.error
        if error is None or not isinstance(self.value, Fraction) or self.value == 0:
            return None
        return error / abs(self.value)
