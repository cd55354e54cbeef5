"""What every number format can do: say its size, and turn numbers into codes and back."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtypes.exact import Special
from core.dtypes.rounding import Floats, Overflow, Rng, Rounding, check_policy

Codes = npt.NDArray[np.unsignedinteger[Any]]
CHUNK: Final = 1 << 15  # values encoded at a time: the temporaries of a part stay in the cache
TABLE_BITS: Final = 16  # up to here decoding is one look into a table of at most 65,536 numbers


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """How many codes mean what; the parts add up to 2**bits.

    Attributes:
        subnormals: Finite codes below the smallest normal number, zeros apart.
    """

    zeros: int
    subnormals: int
    normals: int
    infinities: int
    nans: int

    @property
    def finite(self) -> int:
        """Codes of finite numbers, both zeros counted."""
        return self.zeros + self.subnormals + self.normals


@dataclass(frozen=True, kw_only=True)
class Format(ABC):
    """A number format: what each of its 2**bits codes means.

    Attributes:
        name: The name in torch's spelling where torch has one.
        source: Where its numbers are printed.
        year: When a document first had it; 0 where none is known.
    """

    name: str
    source: str
    year: int = 0

    @property
    @abstractmethod
    def bits(self) -> int:
        """Bits of one stored number."""

    @property
    @abstractmethod
    def max(self) -> float:
        """The largest finite number."""

    @property
    @abstractmethod
    def min(self) -> float:
        """The lowest finite number."""

    @property
    @abstractmethod
    def eps(self) -> float:
        """The gap above 1.0."""

    @property
    @abstractmethod
    def smallest_normal(self) -> float:
        """The smallest positive number with full precision."""

    @property
    def smallest_subnormal(self) -> float:
        """The smallest positive number; the smallest normal one where there are no subnormals."""
        return self.smallest_normal

    @abstractmethod
    def counts(self) -> Counts:
        """Return how many codes mean what."""

    @abstractmethod
    def exact(self, code: int) -> Fraction | Special:
        """Return what one code means, without any rounding; the sign of a special is apart."""

    @abstractmethod
    def is_negative(self, code: int) -> bool:
        """Return whether the code carries a minus sign."""

    @abstractmethod
    def _decode(self, codes: Codes) -> Floats: ...

    @abstractmethod
    def _encode(
        self, values: Floats, rounding: Rounding, overflow: Overflow, rng: Rng
    ) -> Codes: ...

    @property
    def num_codes(self) -> int:
        """Return 2**bits."""
        return 1 << self.bits

    @property
    def code_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned numpy dtype that holds a code."""
        size = next(size for size in (8, 16, 32, 64) if size >= self.bits)
        return np.dtype(f"uint{size}")

    def decode(self, codes: npt.ArrayLike) -> Floats:
        """Return what codes mean, in the shape of `codes`; a NaN keeps no code of its own.

        A number beyond float64, which a designed format may have, becomes infinity or zero here;
        `exact` gives it in full.

        Raises:
            ValueError: If a code is no whole number from 0 to 2**bits - 1.

        >>> from core.dtypes import FORMATS
        >>> FORMATS["float8_e4m3fn"].decode([0x7E])
        array([448.])
        """
        array = self._checked(codes)
        if self.bits <= TABLE_BITS:
            return decode_table(self)[array]
        return self._decode(array.reshape(-1)).reshape(array.shape)

    def encode(
        self,
        values: npt.ArrayLike,
        rounding: Rounding = "nearest_even",
        overflow: Overflow = "default",
        rng: Rng = None,
    ) -> Codes:
        """Return the code of each value, rounded once, in the shape of `values`.

        Args:
            values: Numbers; anything numpy can turn into float64 exactly.
            rounding: nearest_even | nearest_away | toward_zero | up | down | stochastic.
            overflow: default (what the format's standard says) | saturate | infinity | nan. A
                format without infinity answers with NaN, one without NaN with its largest number.
            rng: The source of randomness of "stochastic".

        Raises:
            ValueError: If a policy is unknown, or "stochastic" has no `rng`.

        >>> from core.dtypes import FORMATS
        >>> FORMATS["bfloat16"].encode([1.0])
        array([16256], dtype=uint16)
        """
        check_policy(rounding, overflow)
        array = np.asarray(values, dtype=np.float64)
        flat = np.ascontiguousarray(array).reshape(-1)
        codes = np.empty(flat.size, self.code_dtype)
        for start in range(0, flat.size, CHUNK):
            part = slice(start, start + CHUNK)
            codes[part] = self._encode(flat[part], rounding, overflow, rng)
        return codes.reshape(array.shape)

    def round(
        self,
        values: npt.ArrayLike,
        rounding: Rounding = "nearest_even",
        overflow: Overflow = "default",
        rng: Rng = None,
    ) -> Floats:
        """Return what remains of values stored in this format: decode(encode(values))."""
        return self.decode(self.encode(values, rounding, overflow, rng))

    def _checked(self, codes: npt.ArrayLike) -> Codes:
        array = np.asarray(codes)
        if array.size == 0:
            return array.astype(self.code_dtype)
        if array.dtype.kind not in "iu":
            raise ValueError(f"codes are whole numbers, not {array.dtype}")
        if array.dtype.itemsize * 8 > self.bits or array.dtype.kind == "i":
            low, high = int(array.min()), int(array.max())
            if low < 0 or high >= self.num_codes:
                wrong = low if low < 0 else high
                raise ValueError(
                    f"code {wrong} is no code of {self.name}: use 0 to {self.num_codes - 1}"
                )
        return array.astype(self.code_dtype, copy=False)


@cache
def decode_table(fmt: Format) -> Floats:
    """Return what each code of a format of at most 16 bits means, in code order; read only."""
    table = fmt._decode(np.arange(fmt.num_codes, dtype=fmt.code_dtype))
    table.flags.writeable = False
    return table
