"""What may be called by its name: torch's functions, einops' four, and the names of dtypes."""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, Final

import einops
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.expressions.methods import METHODS
from core.expressions.signature import Call, Parameter, as_tuple, table_of


def _own(module: ModuleType, *signatures: str, **marks: Any) -> dict[str, Call]:  # noqa: ANN401
    """Return rows that hand their arguments to the module's function of that very name."""
    prefix = {torch: "torch", F: "F", math: "math"}[module]
    rows = {f"{prefix}.{each}": getattr(module, each.partition("(")[0]) for each in signatures}
    return table_of(rows, hands_on=True, **marks)


def _of_methods(methods: Mapping[str, Call]) -> dict[str, Call]:
    """Return torch's functions of the same names, which take the tensor first."""
    first = Parameter("input", ("tensor",))
    return {
        f"torch.{name}": replace(
            call, name=f"torch.{name}", parameters=(first, *map(_of_function, call.parameters))
        )
        for name, call in methods.items()
        if callable(getattr(torch, name, None))
    }


def _of_function(parameter: Parameter) -> Parameter:
    """Return a parameter as a function takes it: several numbers stand in a tuple."""
    kinds = tuple(kind.removeprefix("*") for kind in parameter.kinds)
    return replace(parameter, kinds=kinds)


def _whole_numbers(
    low: int,
    high: Any,  # noqa: ANN401  a number, or the size
    size: int | Sequence[int] | None,
    generator: torch.Generator | None,
) -> Tensor:
    """Return whole numbers below a bound: the lower one may be left out."""
    low, high, size = (0, low, high) if size is None else (low, high, size)
    return torch.randint(low, high, as_tuple(size), generator=generator)


_DTYPES: Final = (
    *("float64", "double", "float32", "float", "float16", "half", "bfloat16"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("complex32", "chalf", "complex64", "cfloat", "complex128", "cdouble"),
    *("int64", "long", "int32", "int", "int16", "short", "int8", "bool"),
    *("uint8", "uint16", "uint32", "uint64"),
)
_FORMATS: Final = ("channels_last", "contiguous_format", "preserve_format")
CONSTANTS: Final[Mapping[str, Any]] = {
    f"torch.{name}": getattr(torch, name) for name in (*_DTYPES, *_FORMATS, "inf", "nan", "pi", "e")
} | {f"math.{name}": getattr(math, name) for name in ("inf", "nan", "pi", "e")}
_TYPED: Final = "*, dtype dtype|None = None"


def _made(typed: str) -> dict[str, Call]:
    """Return what makes a tensor, with these arguments at the end."""
    return _own(
        torch,
        f"tensor(data data, {typed})",
        *(f"{name}(size *ints, {typed})" for name in ("zeros", "ones")),
        f"full(size ints, fill_value number, {typed})",
        f"eye(n int, m int|None = None, {typed})",
        f"arange(start number, end number|None = None, step number = 1, {typed})",
        f"linspace(start number, end number, steps int, {typed})",
        *(f"{name}(input tensor, {typed})" for name in ("zeros_like", "ones_like")),
        f"full_like(input tensor, fill_value number, {typed})",
    ) | _own(
        torch,
        *(f"{name}(size *ints, {typed})" for name in ("rand", "randn")),
        f"randperm(n int, {typed})",
        is_random=True,
    )


CREATION: Final = (
    _made(_TYPED)
    | table_of(
        {
            f"torch.empty(size *ints, {_TYPED})": lambda size, dtype: _known(
                torch.empty(size, dtype=dtype)
            ),
            f"torch.empty_strided(size ints, stride ints, {_TYPED})": (
                lambda size, stride, dtype: _known(
                    torch.empty_strided(as_tuple(size), as_tuple(stride), dtype=dtype)
                )
            ),
            "torch.empty_like(input tensor)": lambda x: _known(torch.empty_like(x)),
        }
    )
    | table_of(
        {
            "torch.randint(low int, high int|ints, size ints|None = None)": _whole_numbers,
            "torch.randn_like(input tensor)": lambda x, generator: torch.randn(
                x.shape, generator=generator, dtype=x.dtype
            ),
            "torch.manual_seed(seed int)": lambda seed, generator: (
                None if generator is None else generator.manual_seed(seed) and None
            ),
        },
        is_random=True,
    )
)
JOINING: Final = (
    _own(
        torch,
        *(f"{name}(tensors tensors, dim int = 0)" for name in ("cat", "concat", "stack")),
        *(f"{name}(tensors tensors)" for name in ("hstack", "vstack")),
        *(f"{name}(input tensor)" for name in ("view_as_real", "view_as_complex")),
        "isclose(input tensor, other tensor, rtol number = 1e-05, atol number = 1e-08)",
    )
    | _own(
        torch,
        "where(condition tensor, input tensor|number|None = None, other tensor|number|None = None)",
        reads_values=True,
    )
    | _own(
        F,
        *(f"{name}(input tensor, dim int)" for name in ("softmax", "log_softmax")),
        *(f"{name}(input tensor)" for name in ("relu", "silu", "softplus", "sigmoid", "tanh")),
        "gelu(input tensor, approximate text = 'none')",
        "embedding(input tensor, weight tensor)",
        "unfold(input tensor, kernel_size ints, *, stride ints = 1)",
        "scaled_dot_product_attention(query tensor, key tensor, value tensor, *, "
        "is_causal bool = False, enable_gqa bool = False)",
        "one_hot(tensor tensor, num_classes int)",
        "pad(input tensor, pad ints, mode text = 'constant', value number|None = None)",
        "normalize(input tensor, p number = 2.0, dim int = 1, eps number = 1e-12)",
        "cosine_similarity(x1 tensor, x2 tensor, dim int = 1, eps number = 1e-08)",
        *(
            f"{name}(input tensor, target tensor, *, reduction text = 'mean')"
            for name in ("mse_loss", "l1_loss", "nll_loss", "binary_cross_entropy_with_logits")
        ),
        "cross_entropy(input tensor, target tensor, *, ignore_index int = -100, "
        "reduction text = 'mean', label_smoothing number = 0.0)",
    )
    | table_of(
        {
            "torch.meshgrid(x tensor, y tensor, *, indexing text = 'ij')": (
                lambda x, y, indexing: torch.meshgrid(x, y, indexing=indexing)
            ),
            "F.layer_norm(input tensor, normalized_shape ints, weight tensor|None = None, "
            "bias tensor|None = None, eps number = 1e-05)": lambda x, shape, *more: F.layer_norm(
                x, as_tuple(shape), *more
            ),
        }
    )
)
PRODUCTS: Final = table_of(
    {
        "torch.einsum(equation text, x tensor, y tensor|None = None, z tensor|None = None)": (
            lambda equation, *tensors: torch.einsum(equation, *_given(tensors))
        ),
        "einsum(x tensor, y tensor|text, z tensor|text|None = None, pattern text|None = None)": (
            lambda *tensors_and_pattern: einops.einsum(*_given(tensors_and_pattern))
        ),
        "F.linear(x tensor, weight tensor, bias tensor|None = None)": F.linear,
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
NUMBERS: Final = _own(
    math, *(f"{name}(x number)" for name in ("sqrt", "exp", "log", "floor", "ceil"))
) | table_of(
    {
        "float(x number|bool|text|tensor = 0.0)": float,
        "int(x number|bool|tensor = 0)": int,
        "len(x tensor|list)": len,
    }
)
FUNCTIONS: Final[Mapping[str, Call]] = (
    _of_methods(METHODS) | CREATION | JOINING | PRODUCTS | EINOPS | NUMBERS
)
GRADIENT_FUNCTIONS: Final[Mapping[str, Call]] = _made(
    f"{_TYPED}, requires_grad bool = False"
) | table_of(
    {
        "torch.nn.Parameter(data tensor, requires_grad bool = True)": lambda x, requires_grad: (
            x.detach().requires_grad_(requires_grad)
        )
    }
)


def _given(arguments: Sequence[Any]) -> list[Any]:
    return [argument for argument in arguments if argument is not None]


def _known(x: Tensor) -> Tensor:
    """Fill what is not initialized, as torch does where it shall be deterministic.

    Nobody reads what another program has left in this memory.
    """
    return x.fill_(torch.nan if x.is_floating_point() or x.is_complex() else 0)
