"""What may be called by its name: torch's functions, einops' four, and the names of dtypes."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

import einops
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.expressions.signature import Call, as_tuple, table_of

DTYPE_NAMES: Final[Mapping[str, torch.dtype]] = {
    "torch.float64": torch.float64,
    "torch.double": torch.float64,
    "torch.float32": torch.float32,
    "torch.float": torch.float32,
    "torch.float16": torch.float16,
    "torch.half": torch.float16,
    "torch.bfloat16": torch.bfloat16,
    "torch.int64": torch.int64,
    "torch.long": torch.int64,
    "torch.int32": torch.int32,
    "torch.int": torch.int32,
    "torch.int16": torch.int16,
    "torch.int8": torch.int8,
    "torch.uint8": torch.uint8,
    "torch.bool": torch.bool,
    "torch.complex64": torch.complex64,
}
CONSTANTS: Final[Mapping[str, Any]] = {
    **DTYPE_NAMES,
    "torch.inf": torch.inf,
    "torch.nan": torch.nan,
    "torch.channels_last": torch.channels_last,
    "torch.contiguous_format": torch.contiguous_format,
    "torch.preserve_format": torch.preserve_format,
}

CREATION: Final = table_of(
    {
        "torch.tensor(data data, dtype dtype|None = None)": lambda data, dtype: torch.tensor(
            data, dtype=dtype
        ),
        "torch.zeros(size *ints, dtype dtype|None = None)": lambda size, dtype: torch.zeros(
            size, dtype=dtype
        ),
        "torch.ones(size *ints, dtype dtype|None = None)": lambda size, dtype: torch.ones(
            size, dtype=dtype
        ),
        "torch.full(size ints, fill_value number, dtype dtype|None = None)": (
            lambda size, value, dtype: torch.full(as_tuple(size), value, dtype=dtype)
        ),
        "torch.empty(size *ints, dtype dtype|None = None)": lambda size, dtype: _known(
            torch.empty(size, dtype=dtype)
        ),
        "torch.empty_strided(size ints, stride ints, dtype dtype|None = None)": (
            lambda size, stride, dtype: _known(
                torch.empty_strided(as_tuple(size), as_tuple(stride), dtype=dtype)
            )
        ),
        "torch.eye(n int, m int|None = None)": lambda n, m: torch.eye(n, n if m is None else m),
        "torch.linspace(start number, end number, steps int)": torch.linspace,
        "torch.arange(start number, end number|None = None, step number = 1, "
        "dtype dtype|None = None)": lambda start, end, step, dtype: torch.arange(
            0 if end is None else start, start if end is None else end, step, dtype=dtype
        ),
        "torch.zeros_like(x tensor)": torch.zeros_like,
        "torch.ones_like(x tensor)": torch.ones_like,
        "torch.empty_like(x tensor)": lambda x: _known(torch.empty_like(x)),
    }
) | table_of(
    {
        "torch.rand(size *ints)": lambda size, chance: torch.rand(size, generator=chance),
        "torch.randn(size *ints)": lambda size, chance: torch.randn(size, generator=chance),
    },
    is_random=True,
)
JOINING: Final = table_of(
    {
        "torch.cat(tensors tensors, dim int = 0)": torch.cat,
        "torch.stack(tensors tensors, dim int = 0)": torch.stack,
        "torch.meshgrid(x tensor, y tensor)": lambda x, y: torch.meshgrid(x, y, indexing="ij"),
        "torch.broadcast_to(x tensor, shape ints)": lambda x, shape: torch.broadcast_to(
            x, as_tuple(shape)
        ),
        "torch.where(condition tensor, x tensor|number, y tensor|number)": torch.where,
        "torch.diag(x tensor, diagonal int = 0)": torch.diag,
        "torch.tril(x tensor, diagonal int = 0)": torch.tril,
        "torch.triu(x tensor, diagonal int = 0)": torch.triu,
        "torch.clone(x tensor)": torch.clone,
        "torch.view_as_real(x tensor)": torch.view_as_real,
        "torch.view_as_complex(x tensor)": torch.view_as_complex,
        "torch.permute(x tensor, dims ints)": lambda x, dims: torch.permute(x, as_tuple(dims)),
        "torch.transpose(x tensor, dim0 int, dim1 int)": torch.transpose,
        "torch.reshape(x tensor, shape ints)": lambda x, shape: torch.reshape(x, as_tuple(shape)),
        "torch.softmax(x tensor, dim int)": torch.softmax,
        "torch.exp(x tensor)": torch.exp,
        "torch.sqrt(x tensor)": torch.sqrt,
        "torch.rsqrt(x tensor)": torch.rsqrt,
        "F.softmax(x tensor, dim int)": F.softmax,
        "F.relu(x tensor)": F.relu,
        "F.gelu(x tensor)": F.gelu,
        "F.silu(x tensor)": F.silu,
        "F.unfold(x tensor, kernel_size ints, stride ints = 1)": lambda x, size, stride: F.unfold(
            x, size, stride=stride
        ),
        "F.embedding(ids tensor, weight tensor)": F.embedding,
    }
)
PRODUCTS: Final = table_of(
    {
        "torch.matmul(x tensor, y tensor)": torch.matmul,
        "torch.einsum(equation text, x tensor, y tensor|None = None, z tensor|None = None)": (
            lambda equation, *tensors: torch.einsum(equation, *_given(tensors))
        ),
        "einsum(x tensor, y tensor|text, z tensor|text|None = None, pattern text|None = None)": (
            lambda *tensors_and_pattern: einops.einsum(*_given(tensors_and_pattern))
        ),
        "F.linear(x tensor, weight tensor, bias tensor|None = None)": F.linear,
        "F.scaled_dot_product_attention(q tensor, k tensor, v tensor, "
        "is_causal bool = False, enable_gqa bool = False)": lambda q, k, v, causal, gqa: (
            F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=gqa)
        ),
    }
)
# `rearrange` and `repeat` hand the lengths on to `reduce`: its names are taken in all three.
EINOPS_ARGUMENTS: Final = frozenset(
    name
    for name, parameter in inspect.signature(einops.reduce).parameters.items()
    if parameter.kind is not parameter.VAR_KEYWORD
)
EINOPS: Final = table_of(
    {
        "rearrange(tensor tensor|tensors, pattern text, **sizes)": lambda x, pattern, sizes: (
            einops.rearrange(x, pattern, **sizes)
        ),
        "reduce(tensor tensor|tensors, pattern text, reduction text, **sizes)": (
            lambda x, pattern, reduction, sizes: einops.reduce(x, pattern, reduction, **sizes)
        ),
        "repeat(tensor tensor|tensors, pattern text, **sizes)": lambda x, pattern, sizes: (
            einops.repeat(x, pattern, **sizes)
        ),
    },
    no_sizes=EINOPS_ARGUMENTS,
)
FUNCTIONS: Final[Mapping[str, Call]] = CREATION | JOINING | PRODUCTS | EINOPS


def _given(arguments: Sequence[Any]) -> list[Any]:
    return [argument for argument in arguments if argument is not None]


def _known(x: Tensor) -> Tensor:
    """Fill what is not initialized, as torch does where it shall be deterministic.

    Nobody reads what another program has left in this memory.
    """
    return x.fill_(torch.nan if x.is_floating_point() or x.is_complex() else 0)
