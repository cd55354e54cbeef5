"""Ways to store a tensor, plain casts and block formats alike, and what comes back from each."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from core.dtypes.blocks.block_formats import BLOCK_FORMATS, BlockFormat
from core.dtypes.blocks.error_stats import ErrorStats, error_stats
from core.dtypes.blocks.gguf_formats import GGUF_FORMATS
from core.dtypes.blocks.scale_rules import ScaleRule
from core.dtypes.number_formats.format import Codes, Format
from core.dtypes.number_formats.table import find_format
from core.dtypes.rounding import Floats

PLAIN_CASTS: Final = (
    *("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4"),
    *("float8_e4m3fnuz", "float8_e5m2fnuz", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
)
STORAGE_NAMES: Final = (*BLOCK_FORMATS, *GGUF_FORMATS, *PLAIN_CASTS)
GROUP_SIZES: Final = (16, 32, 48, 64, 96, 128, 192, 256)
GROUP_NAME: Final = "group128"  # what the names of formats with a free group size hold


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Stored:
    """A tensor as one storage keeps it."""

    codes: Codes
    numbers: Floats  # what the codes mean before they are multiplied: element minus zero point
    restored: Floats
    blocks: Floats | None  # number of the block of each value; None for a plain cast
    scales: Floats  # what each block is multiplied with, flat; empty for a plain cast
    zero_points: Floats  # what is subtracted in each block, flat; empty for a plain cast
    stats: ErrorStats


@dataclass(frozen=True, kw_only=True, slots=True)
class Storage:
    """A plain cast or a block format, ready to store tensors."""

    listed: str  # its name in `STORAGE_NAMES`
    fmt: Format | BlockFormat
    rule: ScaleRule | None = None  # the scale rule, where the format has a choice

    @property
    def name(self) -> str:
        """The name on the page."""
        return self.fmt.name

    @property
    def code(self) -> str:
        """Python that makes the same storage."""
        asked = [repr(self.listed)]
        asked += [f"rule={self.rule!r}"] if self.rule else []
        if isinstance(self.fmt, BlockFormat) and has_group_size(self.listed):
            asked.append(f"group_size={self.fmt.block_size}")
        return f"find_storage({', '.join(asked)})"

    @property
    def element(self) -> Format:
        """The format of one value."""
        return self.fmt.element if isinstance(self.fmt, BlockFormat) else self.fmt

    @property
    def bits_per_value(self) -> float:
        """Bits that one value costs, its share of the scale included."""
        return self.fmt.bits_per_value if isinstance(self.fmt, BlockFormat) else self.fmt.bits

    def round(self, x: Floats) -> Floats:
        """Return what comes back."""
        if isinstance(self.fmt, BlockFormat):
            return self.fmt.round(x, self.rule)
        return self.fmt.round(x)

    def store(self, x: Floats) -> Stored:
        """Return codes, scales and what comes back."""
        if not isinstance(self.fmt, BlockFormat):
            return _cast(self.fmt, x)
        return _blockwise(self.fmt, self.rule, x)


def find_storage(
    name: str, rule: ScaleRule | None = None, group_size: int | None = None
) -> Storage:
    """Return the storage of that name.

    A format without a choice of scale rules does not hear the rule, one without groups not the
    group size; what is not the format's own becomes part of the storage's name.

    Raises:
        ValueError: If there is no such storage, or a group holds no value.
    """
    if name in GGUF_FORMATS:
        return Storage(listed=name, fmt=GGUF_FORMATS[name])
    if name not in BLOCK_FORMATS:
        return Storage(listed=name, fmt=find_format(name))
    fmt = BLOCK_FORMATS[name]
    if group_size is not None and has_group_size(name):
        fmt = replace(
            fmt, name=name.replace(GROUP_NAME, f"group{group_size}"), block_size=group_size
        )
    if rule not in fmt.rules:
        return Storage(listed=name, fmt=fmt)
    own = fmt if rule == fmt.rule else replace(fmt, name=f"{name}_{rule}")
    return Storage(listed=name, fmt=own, rule=rule)


def has_group_size(name: str) -> bool:
    """Return whether the group size of that storage is the reader's to choose."""
    return GROUP_NAME in name


def has_scale_rule(name: str) -> bool:
    """Return whether that storage has scale rules to choose from."""
    return name in BLOCK_FORMATS and len(BLOCK_FORMATS[name].rules) > 1


def _cast(fmt: Format, x: Floats) -> Stored:
    codes = fmt.encode(x)
    restored, nothing = fmt.decode(codes), np.zeros(0)
    clipped = np.isfinite(x) & (np.abs(x) > fmt.max)
    return Stored(
        codes=codes,
        numbers=restored,
        restored=restored,
        blocks=None,
        scales=nothing,
        zero_points=nothing,
        stats=error_stats(x, restored, clipped),
    )


def _blockwise(fmt: BlockFormat, rule: ScaleRule | None, x: Floats) -> Stored:
    kept = fmt.quantize(x, rule)
    restored = fmt.dequantize(kept)
    zeros = np.zeros(kept.scales.shape) if kept.zero_points is None else kept.zero_points
    places = np.arange(kept.scales.size, dtype=np.float64).reshape(kept.scales.shape)
    return Stored(
        codes=kept.codes,
        numbers=fmt.element.decode(kept.codes) - kept.per_value(zeros.astype(np.float64)),
        restored=restored,
        blocks=kept.per_value(places),
        scales=(kept.scales * (kept.tensor_scale or 1.0)).reshape(-1),
        zero_points=zeros.astype(np.float64).reshape(-1),
        stats=error_stats(x, restored, kept.clipped),
    )
