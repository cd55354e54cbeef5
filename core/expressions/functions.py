"""What may be called by its name: torch's functions, einops' four, and the names of dtypes."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

import einops
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.expressions.signature import Call, Run, as_tuple, table_of


def _named(run: Run, *names: str) -> Run:
    """Return a function whose last arguments are handed on by these names."""

    def call(*arguments: Any) -> Any:  # noqa: ANN401
        at = len(arguments) - len(names)
        return run(*arguments[:at], **dict(zip(names, arguments[at:], strict=True)))

    return call


def _own(module: object, *signatures: str) -> dict[str, Call]:
    """Return rows that hand their arguments to the module's function of that very name."""
    prefix = "F" if module is F else "torch"
    rows = {f"{prefix}.{each}": getattr(module, each.partition("(")[0]) for each in signatures}
    return table_of(rows)


_DTYPES: Final = (
    *("float64", "double", "float32", "float", "float16", "half", "bfloat16", "complex64"),
    *("int64", "long", "int32", "int", "int16", "int8", "uint8", "bool"),
)
_FORMATS: Final = ("channels_last", "contiguous_format", "preserve_format")
CONSTANTS: Final[Mapping[str, Any]] = {
    f"torch.{name}": getattr(torch, name) for name in (*_DTYPES, *_FORMATS, "inf", "nan")
}
CREATION: Final = (
    table_of(
        {
            "torch.tensor(data data, dtype dtype|None = None)": _named(torch.tensor, "dtype"),
            "torch.zeros(size *ints, dtype dtype|None = None)": _named(torch.zeros, "dtype"),
            "torch.ones(size *ints, dtype dtype|None = None)": _named(torch.ones, "dtype"),
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
            "torch.arange(start number, end number|None = None, step number = 1, "
            "dtype dtype|None = None)": lambda start, end, step, dtype: torch.arange(
                0 if end is None else start, start if end is None else end, step, dtype=dtype
            ),
            "torch.empty_like(x tensor)": lambda x: _known(torch.empty_like(x)),
        }
    )
    | _own(
        torch,
        "linspace(start number, end number, steps int)",
        *("zeros_like(x tensor)", "ones_like(x tensor)"),
    )
    | table_of(
        {
            "torch.rand(size *ints)": _named(torch.rand, "generator"),
            "torch.randn(size *ints)": _named(torch.randn, "generator"),
        },
        is_random=True,
    )
)
JOINING: Final = (
    _own(
        torch,
        "cat(tensors tensors, dim int = 0)",
        "stack(tensors tensors, dim int = 0)",
        "where(condition tensor, x tensor|number, y tensor|number)",
        *(f"{name}(x tensor, diagonal int = 0)" for name in ("diag", "tril", "triu")),
        *(f"{name}(x tensor)" for name in ("clone", "view_as_real", "view_as_complex")),
        "transpose(x tensor, dim0 int, dim1 int)",
        "softmax(x tensor, dim int)",
        *(f"{name}(x tensor)" for name in ("exp", "sqrt", "rsqrt")),
    )
    | _own(
        F,
        "softmax(x tensor, dim int)",
        *(f"{name}(x tensor)" for name in ("relu", "gelu", "silu")),
        "embedding(ids tensor, weight tensor)",
    )
    | table_of(
        {
            "torch.meshgrid(x tensor, y tensor)": lambda x, y: torch.meshgrid(x, y, indexing="ij"),
            "torch.broadcast_to(x tensor, shape ints)": lambda x, shape: torch.broadcast_to(
                x, as_tuple(shape)
            ),
            "torch.permute(x tensor, dims ints)": lambda x, dims: torch.permute(x, as_tuple(dims)),
            "torch.reshape(x tensor, shape ints)": lambda x, shape: torch.reshape(
                x, as_tuple(shape)
            ),
            "F.unfold(x tensor, kernel_size ints, stride ints = 1)": _named(F.unfold, "stride"),
        }
    )
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
        "is_causal bool = False, enable_gqa bool = False)": _named(
            F.scaled_dot_product_attention, "is_causal", "enable_gqa"
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
GRADIENT_FUNCTIONS: Final[Mapping[str, Call]] = (
    table_of(
        {
            f"torch.{signature}, dtype dtype|None = None, requires_grad bool = False)": (
                _named(run, "dtype", "requires_grad")
            )
            for signature, run in (
                ("tensor(data data", torch.tensor),
                ("zeros(size *ints", torch.zeros),
                ("ones(size *ints", torch.ones),
            )
        }
    )
    | table_of(
        {
            "torch.randn(size *ints, requires_grad bool = False)": _named(
                torch.randn, "requires_grad", "generator"
            )
        },
        is_random=True,
    )
    | _own(
        torch,
        "full_like(x tensor, value number)",
        *(f"{name}(x tensor)" for name in ("sin", "cos", "tanh", "log", "abs", "sigmoid", "relu")),
        *(f"{name}(x tensor)" for name in ("square", "sum", "mean")),
        *(f"{name}(x tensor, y tensor)" for name in ("maximum", "minimum", "dot", "outer")),
        "clamp(x tensor, min number|None = None, max number|None = None)",
        *(f"{name}(x tensor, dim int)" for name in ("logsumexp", "log_softmax")),
    )
    | table_of(
        {
            "torch.norm(x tensor)": lambda x: x.norm(),
            "torch.max(x tensor, other tensor|None = None)": lambda *x: torch.max(*_given(x)),
            "torch.min(x tensor, other tensor|None = None)": lambda *x: torch.min(*_given(x)),
            **{
                f"F.{name}(input tensor, target tensor, reduction text = 'mean')": _named(
                    getattr(F, name), "reduction"
                )
                for name in ("mse_loss", "cross_entropy")
            },
            "F.layer_norm(x tensor, normalized_shape ints, weight tensor|None = None, "
            "bias tensor|None = None, eps number = 1e-05)": lambda x, shape, weight, bias, eps: (
                F.layer_norm(x, as_tuple(shape), weight, bias, eps)
            ),
        }
    )
    | _own(
        F,
        "nll_loss(input tensor, target tensor)",
        "log_softmax(x tensor, dim int)",
        "softplus(x tensor)",
    )
)


def _given(arguments: Sequence[Any]) -> list[Any]:
    return [argument for argument in arguments if argument is not None]


def _known(x: Tensor) -> Tensor:
    """Fill what is not initialized, as torch does where it shall be deterministic.

    Nobody reads what another program has left in this memory.
    """
    return x.fill_(torch.nan if x.is_floating_point() or x.is_complex() else 0)
