"""Examples to begin with, as rows of a file, and the tensors that they run on."""

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import torch
from torch import Tensor

from core.expressions import MATERIALIZED, ON_META, Limits
from core.language import N_, _, current_language
from core.tensors.einops_plan import Operation

T = TypeVar("T")
DTYPES: Final[Mapping[str, torch.dtype]] = {
    name: getattr(torch, name) for name in ("float32", "float16", "bfloat16", "int64", "uint8")
}
# Of axes for which nobody has set a length, by place.
ALL_LENGTHS: Final = (2, 4, 2, 3, 2, 2)
EINSUM_LENGTHS: Final = (2, 4, 2, 3, 4, 2)
# What the letters of a pattern stand for.
AXIS_WORDS: Final = (
    *(N_("batch"), N_("token"), N_("head"), N_("head dimension"), N_("KV head"), N_("feature")),
    *(N_("row"), N_("column"), N_("channel"), N_("repetition"), N_("patch row")),
    *(N_("row in a patch"), N_("patch column"), N_("column in a patch")),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """What every row has: what it shows, by language."""

    title: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset(Example):
    """A program and its tensor `x`.

    Training `model`, a key of `core.budget.catalogue.models`, with `batch` sequences of `seq`
    tokens makes this tensor; a toy has none.
    """

    shape: tuple[int, ...]
    source: str
    dtype: str = "float32"
    model: str = ""
    batch: int = 0
    seq: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class PatternExample(Example):
    """A call of einops; lengths, and words of `AXIS_WORDS`, in the order of its axes."""

    operation: Operation
    pattern: str
    lengths: tuple[int, ...]
    words: tuple[str, ...] = ()
    axis: int = 1  # place of the axis that is looked at
    reduction: str = "sum"
    ones: bool = False  # what the tensor holds, else 0, 1, 2, ...


@dataclass(frozen=True, kw_only=True, slots=True)
class EinsumExample(Example):
    """An einsum in the notation of torch or of einops, with lengths in the order of its indices."""

    equation: str
    lengths: tuple[int, ...]
    axis: int = 1  # place of the index that is looked at


@dataclass(frozen=True, kw_only=True, slots=True)
class Shapes(Example):
    """Tensors that meet, and the dimension that tells most, counted from the right."""

    shapes: tuple[tuple[int, ...], ...]
    dim: int = -1


def examples(section: str, kind: Callable[..., T]) -> Mapping[str, T]:
    """Return the rows of a section of examples.toml by key, in the order of the file."""
    return {
        key: kind(**{name: _frozen(value) for name, value in row.items()})
        for key, row in _SECTIONS[section].items()
    }


def _frozen(value: Any) -> Any:  # noqa: ANN401  a value of TOML
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def titles(rows: Mapping[str, Example]) -> dict[str, str]:
    """Return key -> title in the reader's language."""
    return {key: row.title[current_language()] for key, row in rows.items()}


_SECTIONS: Final[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
PRESETS: Final = examples("program", Preset)
WRITE_PRESETS: Final = examples("write", Preset)
PATTERNS: Final = examples("pattern", PatternExample)
EINSUMS: Final = examples("einsum", EinsumExample)
BROADCASTS: Final = examples("broadcast", Shapes)
PRODUCTS: Final = examples("product", Shapes)


def counted(shape: Sequence[int], dtype: str = "float32") -> Tensor:
    """Return a tensor that holds 0, 1, 2, ... in the order of its storage.

    In a narrow dtype the numbers are rounded, or begin again.
    """
    values = torch.arange(math.prod(shape), dtype=torch.int64)
    return values.to(DTYPES[dtype]).view(tuple(shape))


def without_data(shape: Sequence[int], dtype: str = "float32") -> Tensor:
    """Return a tensor of any size that has no data, and costs nothing.

    Raises:
        ValueError: If its bytes are more than an int64 can count.
    """
    num_bytes = math.prod(shape) * DTYPES[dtype].itemsize
    if num_bytes >= 2**63:
        message = _("The tensor would have {count} bytes; sizes end below 2**63.")
        raise ValueError(message.format(count=f"{num_bytes:,}"))
    return torch.empty(tuple(shape), dtype=DTYPES[dtype], device="meta")


def tensors_of(
    shapes: Mapping[str, Sequence[int]], dtype: str, *, is_small: bool
) -> tuple[dict[str, Tensor], Limits]:
    """Return tensors by name, with data only if they are small, and the limits of a program."""
    make, limits = (counted, MATERIALIZED) if is_small else (without_data, ON_META)
    return {name: make(shape, dtype) for name, shape in shapes.items()}, limits


def given(shape: Sequence[int], dtype: str = "float32") -> tuple[Tensor, Limits]:
    """Return `x` and the limits of a program on it: with data as long as it is small enough."""
    is_small = math.prod(shape) <= MATERIALIZED.num_elements
    tensors, limits = tensors_of({"x": shape}, dtype, is_small=is_small)
    return tensors["x"], limits
