"""What may be asked of a tensor: explicit rows, never an attribute looked up by a reader's word.

Each row runs PyTorch's own method. Rows that change their tensor stand in `WRITES`; those of
programs about gradients, beyond the rest, in `GRADIENT_METHODS` and `GRADIENT_PROPERTIES`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.signature import Call, as_tuple, table_of


def _methods(*signatures: str, **marks: Any) -> dict[str, Call]:  # noqa: ANN401
    """Return rows that hand their arguments to the tensor's method of that very name."""
    rows = {each: getattr(Tensor, each.partition("(")[0]) for each in signatures}
    return table_of(rows, hands_on=True, **marks)


SHAPES: Final = _methods(
    "view(shape *ints|dtype)",
    "view_as(other tensor)",
    "reshape(shape *ints)",
    "reshape_as(other tensor)",
    "flatten(start_dim int = 0, end_dim int = -1)",
    "ravel()",
    "unflatten(dim int, sizes *ints)",
    "squeeze(dim ints|None = None)",
    "transpose(dim0 int, dim1 int)",
    "swapaxes(axis0 int, axis1 int)",
    "swapdims(dim0 int, dim1 int)",
    "t()",
    "permute(dims *ints)",
    *("movedim(source ints, destination ints)", "moveaxis(source ints, destination ints)"),
    "unsqueeze(dim int)",
    "expand(size *ints)",
    "expand_as(other tensor)",
    "broadcast_to(size *ints)",
    "repeat(repeats *ints)",
    "tile(dims *ints)",
    "repeat_interleave(repeats int, dim int|None = None)",
    "detach()",
    "contiguous(*, memory_format format = None)",
    "clone(*, memory_format format = None)",
) | table_of(
    {
        "as_strided(size ints, stride ints, storage_offset int|None = None)": (
            lambda x, size, stride, offset: x.as_strided(as_tuple(size), as_tuple(stride), offset)
        )
    }
)
PARTS: Final = (
    _methods(
        "select(dim int, index int)",
        "narrow(dim int, start int, length int)",
        "split(split_size ints, dim int = 0)",
        "chunk(chunks int, dim int = 0)",
        "tensor_split(sections ints, dim int = 0)",
        "hsplit(sections ints)",
        "unbind(dim int = 0)",
        "diagonal(offset int = 0, dim1 int = 0, dim2 int = 1)",
        "diag(diagonal int = 0)",
        "unfold(dimension int, size int, step int)",
        "index_select(dim int, index tensor)",
        "gather(dim int, index tensor)",
        "take(index tensor)",
        "take_along_dim(indices tensor, dim int|None = None)",
        "where(condition tensor, other tensor|number)",
        "flip(dims *ints)",
        *("fliplr()", "flipud()"),
        "roll(shifts ints, dims ints|None = None)",
        *("tril(diagonal int = 0)", "triu(diagonal int = 0)"),
        "topk(k int, dim int = -1, largest bool = True, sorted bool = True)",
        "kthvalue(k int, dim int = -1, keepdim bool = False)",
        "sort(dim int = -1, descending bool = False, *, stable bool = False)",
        "argsort(dim int = -1, descending bool = False, stable bool = False)",
    )
    | table_of({"rot90(k int = 1)": lambda x, k: x.rot90(k % 4)})
    | _methods(
        "masked_select(mask tensor)",
        "nonzero(*, as_tuple bool = False)",
        "unique(sorted bool = True, return_inverse bool = False, return_counts bool = False, "
        "dim int|None = None)",
        reads_values=True,
    )
)
# How many tensors come of a call, told before it makes them.
_NUM_PARTS: Final[Mapping[str, Callable[..., int]]] = {
    "unbind": lambda x, dim: x.size(dim),
    "split": lambda x, size, dim: (
        -(-x.size(dim) // max(size, 1)) if isinstance(size, int) else len(size)
    ),
    "chunk": lambda x, chunks, dim: min(chunks, x.size(dim)),
    "tensor_split": lambda _x, sections, _dim: _num_sections(sections),
    "hsplit": lambda _x, sections: _num_sections(sections),
}
NUM_PARTS: Final = {**_NUM_PARTS, **{f"torch.{name}": each for name, each in _NUM_PARTS.items()}}
DTYPES: Final = _methods(
    *("half()", "bfloat16()", "float()", "double()", "int()", "long()", "bool()"),
    *("short()", "char()", "byte()", "cfloat()"),
    *("type_as(other tensor)", "conj()", "resolve_conj()"),
    "to(dtype dtype|tensor|None = None, non_blocking bool = False, copy bool = False, *, "
    "memory_format format = None)",
    "type(dtype dtype|None = None)",
)
# Of each element, and of two: all of them can also be done in place.
_OF_ONE: Final = (
    *("abs()", "neg()", "exp()", "exp2()", "expm1()", "log()", "log2()", "log10()", "log1p()"),
    *("sqrt()", "rsqrt()", "square()", "reciprocal()", "sin()", "cos()", "tan()", "asin()"),
    *("acos()", "atan()", "sinh()", "cosh()", "tanh()", "sigmoid()", "relu()", "erf()"),
    *("floor()", "ceil()", "round(*, decimals int = 0)", "trunc()", "frac()", "sign()"),
    *("logical_not()", "nan_to_num(nan number|None = None)"),
    "clamp(min number|tensor|None = None, max number|tensor|None = None)",
    "masked_fill(mask tensor, value number|tensor)",
)
_OF_TWO: Final = (
    *(f"{name}(other tensor|number, *, alpha number = 1)" for name in ("add", "sub")),
    "div(other tensor|number, *, rounding_mode text|None = None)",
    *(
        f"{name}(other tensor|number)"
        for name in (
            *("mul", "multiply", "subtract", "true_divide", "floor_divide", "remainder", "fmod"),
            *("eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor"),
        )
    ),
    *(f"{name}(other tensor)" for name in ("logical_and", "logical_or", "logical_xor", "atan2")),
    "pow(exponent tensor|number)",
    "lerp(end tensor, weight number|tensor)",
    "index_add(dim int, index tensor, source tensor, *, alpha number = 1)",
    "index_copy(dim int, index tensor, source tensor)",
    "index_fill(dim int, index tensor, value number)",
    "scatter(dim int, index tensor, src tensor|number|None = None, *, value number|None = None)",
    "scatter_add(dim int, index tensor, src tensor)",
    "masked_scatter(mask tensor, source tensor)",
)
_BEST: Final = "dim int|tensor|None = None, keepdim bool = False"
_REDUCED: Final = "dim ints|None = None, keepdim bool = False"
ARITHMETIC: Final = (
    _methods(*_OF_ONE)
    | _methods(*_OF_TWO)
    | _methods(
        *("isnan()", "isinf()", "isfinite()"),
        *(f"{name}({_REDUCED}, *, dtype dtype|None = None)" for name in ("sum", "mean", "nansum")),
        "prod(dim int|None = None, keepdim bool = False)",
        *(f"{name}({_BEST})" for name in ("max", "min")),
        *(f"{name}(dim ints = (), keepdim bool = False)" for name in ("amax", "amin")),
        *(
            f"{name}(dim int|None = None, keepdim bool = False)"
            for name in ("argmax", "argmin", "any", "all", "median")
        ),
        *(
            f"{name}(dim ints|bool|None = None, unbiased bool = True, keepdim bool = False, *, "
            "correction number|None = None)"
            for name in ("std", "var")
        ),
        f"norm(p number|text = 'fro', {_REDUCED})",
        "logsumexp(dim ints, keepdim bool = False)",
        "count_nonzero(dim ints|None = None)",
        *(f"{name}(dim int)" for name in ("cumsum", "cumprod")),
        *(f"{name}(dim int, dtype dtype|None = None)" for name in ("softmax", "log_softmax")),
        *(f"{name}(other tensor)" for name in ("matmul", "mm", "bmm", "dot", "mv", "outer")),
        *(f"{name}(other tensor)" for name in ("maximum", "minimum")),
        "diff(n int = 1, dim int = -1)",
    )
)
FACTS: Final = (
    _methods(
        *("storage_offset()", "numel()", "nelement()", "dim()", "ndimension()", "element_size()"),
        *("is_contiguous(*, memory_format format = None)", "size(dim int|None = None)"),
        *("stride(dim int|None = None)", "is_floating_point()", "item()"),
        "equal(other tensor)",
    )
    | table_of(
        {
            # Written out, so that a dry run counts what a broadcast would make.
            "allclose(other tensor, rtol number = 1e-05, atol number = 1e-08, "
            "equal_nan bool = False)": lambda x, other, rtol, atol, equal_nan: bool(
                x.isclose(other, rtol, atol, equal_nan).all()
            )
        }
    )
    | _methods("tolist()", is_written_out=True)
)


def _in_place(*signatures: str) -> dict[str, Call]:
    names = [each.replace("(", "_(", 1) for each in signatures]
    return _methods(*(each for each in names if each.partition("(")[0] in dir(Tensor)), writes=True)


WRITES: Final = (
    _in_place(*_OF_ONE)
    | _in_place(*_OF_TWO)
    | _methods(
        "copy_(other tensor)",
        "fill_(value number|tensor)",
        "zero_()",
        *(
            "tril_(diagonal int = 0)",
            "triu_(diagonal int = 0)",
            "fill_diagonal_(fill_value number)",
        ),
        writes=True,
    )
)
METHODS: Final[Mapping[str, Call]] = SHAPES | PARTS | DTYPES | ARITHMETIC | FACTS
PROPERTIES: Final = table_of(
    {
        "T()": lambda x: x.T,
        "mT()": lambda x: x.mT,
        "real()": lambda x: x.real,
        "imag()": lambda x: x.imag,
        "data()": lambda x: x.data,
        "shape()": lambda x: x.shape,
        "ndim()": lambda x: x.ndim,
        "dtype()": lambda x: x.dtype,
        "itemsize()": lambda x: x.itemsize,
        "nbytes()": lambda x: x.nbytes,
    }
)
GRADIENT_METHODS: Final[Mapping[str, Call]] = (
    _methods(
        "backward(gradient tensor|None = None, retain_graph bool|None = None, "
        "create_graph bool = False)",
        *("retain_grad()", "requires_grad_(requires_grad bool = True)", "item()"),
        is_stateful=True,
    )
    # The array itself is no value here: a tensor that shares its memory stands for it.
    | table_of({"numpy()": lambda x: torch.from_numpy(x.numpy())}, is_stateful=True)
)
GRADIENT_PROPERTIES: Final = table_of(
    {
        "grad()": lambda x: x.grad,
        "requires_grad()": lambda x: x.requires_grad,
        "is_leaf()": lambda x: x.is_leaf,
    },
    is_stateful=True,
)


def _num_sections(sections: int | tuple[int, ...]) -> int:
    return sections if isinstance(sections, int) else len(sections) + 1
