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
    return table_of(rows, **marks)


SHAPES: Final = _methods(
    "view(shape *ints|dtype)",
    "view_as(other tensor)",
    "reshape(shape *ints)",
    "reshape_as(other tensor)",
    "flatten(start_dim int = 0, end_dim int = -1)",
    "ravel()",
    "unflatten(dim int, sizes *ints)",
    "transpose(dim0 int, dim1 int)",
    "swapaxes(axis0 int, axis1 int)",
    "swapdims(dim0 int, dim1 int)",
    "t()",
    "permute(dims *ints)",
    "movedim(source ints, destination ints)",
    "unsqueeze(dim int)",
    "expand(shape *ints)",
    "expand_as(other tensor)",
    "broadcast_to(shape *ints)",
    "repeat(counts *ints)",
    "tile(counts *ints)",
    "repeat_interleave(repeats int, dim int|None = None)",
    "detach()",
) | table_of(
    {
        "squeeze(dim ints|None = None)": lambda x, dim: (
            x.squeeze() if dim is None else x.squeeze(dim)
        ),
        "as_strided(size ints, stride ints, storage_offset int|None = None)": (
            lambda x, size, stride, offset: x.as_strided(as_tuple(size), as_tuple(stride), offset)
        ),
        "contiguous(memory_format format = None)": lambda x, memory_format: x.contiguous(
            memory_format=memory_format or torch.contiguous_format
        ),
        "clone(memory_format format = None)": lambda x, memory_format: x.clone(
            memory_format=memory_format or torch.preserve_format
        ),
    }
)
PARTS: Final = (
    _methods(
        "select(dim int, index int)",
        "narrow(dim int, start int, length int)",
        "split(size ints, dim int = 0)",
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
        "fliplr()",
        "roll(shifts ints, dims ints|None = None)",
        "tril(diagonal int = 0)",
        "triu(diagonal int = 0)",
        "masked_fill(mask tensor, value number)",
    )
    | table_of(
        {
            "rot90(k int = 1)": lambda x, k: x.rot90(k % 4),
            "sort(dim int = -1)": lambda x, dim: tuple(x.sort(dim)),
        }
    )
    | _methods("masked_select(mask tensor)", "nonzero()", reads_values=True)
)
# How many tensors come of a call, told before it makes them.
NUM_PARTS: Final[Mapping[str, Callable[..., int]]] = {
    "unbind": lambda x, dim: x.size(dim),
    "split": lambda x, size, dim: (
        -(-x.size(dim) // max(size, 1)) if isinstance(size, int) else len(size)
    ),
    "chunk": lambda x, chunks, dim: min(chunks, x.size(dim)),
    "tensor_split": lambda _x, sections, _dim: _num_sections(sections),
    "hsplit": lambda _x, sections: _num_sections(sections),
}
DTYPES: Final = _methods(
    *("half()", "bfloat16()", "float()", "double()", "int()", "long()", "bool()"),
    *("type_as(other tensor)", "conj()", "resolve_conj()"),
) | table_of(
    {
        "to(dtype dtype|None = None, memory_format format = None, copy bool = False)": (
            lambda x, dtype, memory_format, copy: _to(x, dtype, memory_format, copy=copy)
        ),
    }
)
ARITHMETIC: Final = _methods(
    "prod(dim int)",
    "amax(dim ints = (), keepdim bool = False)",
    "amin(dim ints = (), keepdim bool = False)",
    "softmax(dim int)",
    "cumsum(dim int)",
    *(f"{name}(other tensor|number)" for name in ("add", "sub", "mul", "div")),
    "pow(exponent tensor|number)",
    *("exp()", "log()", "sqrt()", "rsqrt()", "relu()", "tanh()", "sigmoid()", "abs()", "neg()"),
    *(f"{name}(other tensor)" for name in ("matmul", "mm", "bmm", "dot")),
) | table_of(
    {
        "sum(dim ints|None = None, keepdim bool = False)": lambda x, dim, keepdim: (
            x.sum() if dim is None else x.sum(dim, keepdim)
        ),
        "mean(dim ints|None = None, keepdim bool = False)": lambda x, dim, keepdim: (
            x.mean() if dim is None else x.mean(dim, keepdim)
        ),
    }
)
FACTS: Final = _methods(
    *("storage_offset()", "numel()", "dim()", "element_size()", "is_contiguous()")
) | table_of(
    {
        "size(dim int|None = None)": lambda x, dim: tuple(x.size()) if dim is None else x.size(dim),
        "stride(dim int|None = None)": lambda x, dim: x.stride() if dim is None else x.stride(dim),
    }
)
WRITES: Final = _methods(
    *(f"{name}(other tensor|number)" for name in ("add_", "sub_", "mul_")),
    "copy_(other tensor)",
    "fill_(value number)",
    "zero_()",
    writes=True,
)
METHODS: Final[Mapping[str, Call]] = SHAPES | PARTS | DTYPES | ARITHMETIC | FACTS
PROPERTIES: Final = table_of(
    {
        "T()": lambda x: x.T,
        "mT()": lambda x: x.mT,
        "real()": lambda x: x.real,
        "imag()": lambda x: x.imag,
        "data()": lambda x: x.data,
        "shape()": lambda x: tuple(x.shape),
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
    | _methods(
        *("sin()", "cos()", "square()", "reciprocal()", "var()", "std()", "norm()"),
        *("mv(other tensor)", "log_softmax(dim int)", "logsumexp(dim int)"),
        "clamp(min number|None = None, max number|None = None)",
    )
    | table_of(
        {
            "max(dim int|None = None)": lambda x, dim: (
                x.max() if dim is None else tuple(x.max(dim))
            ),
            "min(dim int|None = None)": lambda x, dim: (
                x.min() if dim is None else tuple(x.min(dim))
            ),
        }
    )
    | _methods("div_(other tensor|number)", writes=True)
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


def _to(
    x: Tensor, dtype: torch.dtype | None, memory_format: torch.memory_format | None, *, copy: bool
) -> Tensor:
    named: dict[str, Any] = {"memory_format": memory_format} if memory_format else {}
    return x.to(dtype or x.dtype, copy=copy, **named)
