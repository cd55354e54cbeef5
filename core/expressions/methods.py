"""What may be asked of a tensor: explicit rows, never an attribute looked up by a reader's word.

Each row runs PyTorch's own method. Rows that change their tensor stand in `WRITES`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.signature import Call, as_tuple, table_of

SHAPES: Final = table_of(
    {
        "view(shape *ints|dtype)": lambda x, shape: x.view(shape),
        "view_as(other tensor)": lambda x, other: x.view_as(other),
        "reshape(shape *ints)": lambda x, shape: x.reshape(shape),
        "reshape_as(other tensor)": lambda x, other: x.reshape_as(other),
        "flatten(start_dim int = 0, end_dim int = -1)": lambda x, start, end: x.flatten(start, end),
        "ravel()": lambda x: x.ravel(),
        "unflatten(dim int, sizes *ints)": lambda x, dim, sizes: x.unflatten(dim, sizes),
        "transpose(dim0 int, dim1 int)": lambda x, dim0, dim1: x.transpose(dim0, dim1),
        "swapaxes(axis0 int, axis1 int)": lambda x, axis0, axis1: x.swapaxes(axis0, axis1),
        "swapdims(dim0 int, dim1 int)": lambda x, dim0, dim1: x.swapdims(dim0, dim1),
        "t()": lambda x: x.t(),
        "permute(dims *ints)": lambda x, dims: x.permute(dims),
        "movedim(source ints, destination ints)": lambda x, source, to: x.movedim(source, to),
        "unsqueeze(dim int)": lambda x, dim: x.unsqueeze(dim),
        "squeeze(dim ints|None = None)": lambda x, dim: (
            x.squeeze() if dim is None else x.squeeze(dim)
        ),
        "expand(shape *ints)": lambda x, shape: x.expand(shape),
        "expand_as(other tensor)": lambda x, other: x.expand_as(other),
        "broadcast_to(shape *ints)": lambda x, shape: x.broadcast_to(shape),
        "repeat(counts *ints)": lambda x, counts: x.repeat(counts),
        "tile(counts *ints)": lambda x, counts: x.tile(counts),
        "repeat_interleave(repeats int, dim int|None = None)": lambda x, repeats, dim: (
            x.repeat_interleave(repeats, dim)
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
        "detach()": lambda x: x.detach(),
    }
)
PARTS: Final = table_of(
    {
        "select(dim int, index int)": lambda x, dim, index: x.select(dim, index),
        "narrow(dim int, start int, length int)": lambda x, dim, start, length: x.narrow(
            dim, start, length
        ),
        "split(size ints, dim int = 0)": lambda x, size, dim: x.split(size, dim),
        "chunk(chunks int, dim int = 0)": lambda x, chunks, dim: x.chunk(chunks, dim),
        "tensor_split(sections ints, dim int = 0)": lambda x, sections, dim: x.tensor_split(
            sections, dim
        ),
        "hsplit(sections ints)": lambda x, sections: x.hsplit(sections),
        "unbind(dim int = 0)": lambda x, dim: x.unbind(dim),
        "diagonal(offset int = 0, dim1 int = 0, dim2 int = 1)": lambda x, offset, dim1, dim2: (
            x.diagonal(offset, dim1, dim2)
        ),
        "diag(diagonal int = 0)": lambda x, diagonal: x.diag(diagonal),
        "unfold(dimension int, size int, step int)": lambda x, dim, size, step: x.unfold(
            dim, size, step
        ),
        "index_select(dim int, index tensor)": lambda x, dim, index: x.index_select(dim, index),
        "gather(dim int, index tensor)": lambda x, dim, index: x.gather(dim, index),
        "take(index tensor)": lambda x, index: x.take(index),
        "take_along_dim(indices tensor, dim int|None = None)": lambda x, indices, dim: (
            x.take_along_dim(indices, dim)
        ),
        "where(condition tensor, other tensor|number)": lambda x, condition, other: x.where(
            condition, other
        ),
        "flip(dims *ints)": lambda x, dims: x.flip(dims),
        "fliplr()": lambda x: x.fliplr(),
        "rot90(k int = 1)": lambda x, k: x.rot90(k % 4),
        "roll(shifts ints, dims ints|None = None)": lambda x, shifts, dims: x.roll(shifts, dims),
        "sort(dim int = -1)": lambda x, dim: tuple(x.sort(dim)),
        "tril(diagonal int = 0)": lambda x, diagonal: x.tril(diagonal),
        "triu(diagonal int = 0)": lambda x, diagonal: x.triu(diagonal),
        "masked_fill(mask tensor, value number)": lambda x, mask, value: x.masked_fill(mask, value),
    }
) | table_of(
    {
        "masked_select(mask tensor)": lambda x, mask: x.masked_select(mask),
        "nonzero()": lambda x: x.nonzero(),
    },
    reads_values=True,
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
DTYPES: Final = table_of(
    {
        "to(dtype dtype|None = None, memory_format format = None, copy bool = False)": (
            lambda x, dtype, memory_format, copy: _to(x, dtype, memory_format, copy=copy)
        ),
        "type_as(other tensor)": lambda x, other: x.type_as(other),
        "half()": lambda x: x.half(),
        "bfloat16()": lambda x: x.bfloat16(),
        "float()": lambda x: x.float(),
        "double()": lambda x: x.double(),
        "int()": lambda x: x.int(),
        "long()": lambda x: x.long(),
        "bool()": lambda x: x.bool(),
        "conj()": lambda x: x.conj(),
        "resolve_conj()": lambda x: x.resolve_conj(),
    }
)
ARITHMETIC: Final = table_of(
    {
        "sum(dim ints|None = None, keepdim bool = False)": lambda x, dim, keepdim: (
            x.sum() if dim is None else x.sum(dim, keepdim)
        ),
        "mean(dim ints|None = None, keepdim bool = False)": lambda x, dim, keepdim: (
            x.mean() if dim is None else x.mean(dim, keepdim)
        ),
        "prod(dim int)": lambda x, dim: x.prod(dim),
        "amax(dim ints = (), keepdim bool = False)": lambda x, dim, keepdim: x.amax(dim, keepdim),
        "amin(dim ints = (), keepdim bool = False)": lambda x, dim, keepdim: x.amin(dim, keepdim),
        "softmax(dim int)": lambda x, dim: x.softmax(dim),
        "cumsum(dim int)": lambda x, dim: x.cumsum(dim),
        "add(other tensor|number)": lambda x, other: x.add(other),
        "sub(other tensor|number)": lambda x, other: x.sub(other),
        "mul(other tensor|number)": lambda x, other: x.mul(other),
        "div(other tensor|number)": lambda x, other: x.div(other),
        "pow(exponent tensor|number)": lambda x, exponent: x.pow(exponent),
        "exp()": lambda x: x.exp(),
        "log()": lambda x: x.log(),
        "sqrt()": lambda x: x.sqrt(),
        "rsqrt()": lambda x: x.rsqrt(),
        "relu()": lambda x: x.relu(),
        "tanh()": lambda x: x.tanh(),
        "sigmoid()": lambda x: x.sigmoid(),
        "abs()": lambda x: x.abs(),
        "neg()": lambda x: x.neg(),
        "matmul(other tensor)": lambda x, other: x.matmul(other),
        "mm(other tensor)": lambda x, other: x.mm(other),
        "bmm(other tensor)": lambda x, other: x.bmm(other),
        "dot(other tensor)": lambda x, other: x.dot(other),
    }
)
FACTS: Final = table_of(
    {
        "size(dim int|None = None)": lambda x, dim: tuple(x.size()) if dim is None else x.size(dim),
        "stride(dim int|None = None)": lambda x, dim: x.stride() if dim is None else x.stride(dim),
        "storage_offset()": lambda x: x.storage_offset(),
        "numel()": lambda x: x.numel(),
        "dim()": lambda x: x.dim(),
        "element_size()": lambda x: x.element_size(),
        "is_contiguous()": lambda x: x.is_contiguous(),
    }
)
WRITES: Final = table_of(
    {
        "add_(other tensor|number)": lambda x, other: x.add_(other),
        "sub_(other tensor|number)": lambda x, other: x.sub_(other),
        "mul_(other tensor|number)": lambda x, other: x.mul_(other),
        "copy_(other tensor)": lambda x, other: x.copy_(other),
        "fill_(value number)": lambda x, value: x.fill_(value),
        "zero_()": lambda x: x.zero_(),
    },
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


def _num_sections(sections: int | tuple[int, ...]) -> int:
    return sections if isinstance(sections, int) else len(sections) + 1


def _to(
    x: Tensor, dtype: torch.dtype | None, memory_format: torch.memory_format | None, *, copy: bool
) -> Tensor:
    named: dict[str, Any] = {"memory_format": memory_format} if memory_format else {}
    return x.to(dtype or x.dtype, copy=copy, **named)
