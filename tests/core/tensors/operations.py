"""What 164 operations do to shape, stride, offset and storage, as torch 2.13 does it on a CPU.

Measured once with torch and written down as a table. `t` is `x.t()`, `e` an expanded column, `b` a
batch of images in channels_last; other names end in their shape: `a234` is `arange(24.0).view(2, 3,
4)`. Layouts are written "shape / stride / offset".
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """An operation; `kind` is that of its last step, `num_bytes` the storage that it makes."""

    text: str
    kind: str
    layout: str = ""
    num_bytes: int = 0
    output: int = 0
    refusal: str = ""


def view(text, layout, output=0):
    return Row(text, "view", layout, output=output)


def copy(text, layout, num_bytes):
    return Row(text, "copy", layout, num_bytes)


def new(text, layout, num_bytes):
    return Row(text, "new", layout, num_bytes)


def same(text, layout):
    return Row(text, "same", layout)


def refused(text, refusal):
    return Row(text, "error", refusal=refusal)


SHAPES = [
    view("x23.view(3, 2)", "3 2 / 2 1 / 0"),
    view("x23.view(-1)", "6 / 1 / 0"),
    refused("x23.t().view(6)", "view size is not compatible"),
    copy("x23.t().reshape(6)", "6 / 1 / 0", 24),
    view("x23.t().view(3, 2, 1)", "3 2 1 / 1 3 3 / 0"),
    view("x23.t().view(3, 1, 2)", "3 1 2 / 1 6 3 / 0"),
    copy("a234.transpose(0, 1).reshape(3, 8)", "3 8 / 8 1 / 0", 96),
    view("a234.permute(2, 0, 1).reshape(4, 6)", "4 6 / 1 4 / 0"),
    view("a234[:, :, ::2].reshape(6, 2)", "6 2 / 4 2 / 0"),
    view("a234[:, :, ::2].reshape(2, 6)", "2 6 / 12 2 / 0"),
    copy("a234[:, :, 1:3].reshape(2, 6)", "2 6 / 6 1 / 0", 48),
    view("x23.reshape(2, 3)", "2 3 / 3 1 / 0"),
    view("x23.flatten()", "6 / 1 / 0"),
    same("v6.flatten()", "6 / 1 / 0"),
    copy("x23.t().flatten()", "6 / 1 / 0", 24),
    view("x23.ravel()", "6 / 1 / 0"),
    view("a234.flatten(1)", "2 12 / 12 1 / 0"),
    view("x23.unflatten(1, (3, 1))", "2 3 1 / 3 1 1 / 0"),
    view("s.reshape(1, 1)", "1 1 / 1 1 / 0"),
    view("x23.view_as(y32)", "3 2 / 2 1 / 0"),
]
AXES = [
    view("x23.transpose(0, 1)", "3 2 / 1 3 / 0"),
    view("x23.t()", "3 2 / 1 3 / 0"),
    view("x23.T", "3 2 / 1 3 / 0"),
    view("x23.mT", "3 2 / 1 3 / 0"),
    view("a234.permute(2, 0, 1)", "4 2 3 / 1 12 4 / 0"),
    view("a234.movedim(0, -1)", "3 4 2 / 4 1 12 / 0"),
    view("a234.swapaxes(0, 2)", "4 3 2 / 1 4 12 / 0"),
    view("x23.unsqueeze(0)", "1 2 3 / 6 3 1 / 0"),
    view("x23.unsqueeze(1)", "2 1 3 / 3 3 1 / 0"),
    view("x23.unsqueeze(-1)", "2 3 1 / 3 1 1 / 0"),
    view("x23.t().unsqueeze(1)", "3 1 2 / 1 6 3 / 0"),
    view("x23[None]", "1 2 3 / 6 3 1 / 0"),
    view("a131.squeeze()", "3 / 1 / 0"),
    view("x23.squeeze(0)", "2 3 / 3 1 / 0"),
    view("a13.t()", "3 1 / 1 3 / 0"),
    view("a03.t()", "3 0 / 1 3 / 0"),
    view("a13.t().view(3)", "3 / 1 / 0"),
    view("a213.transpose(0, 1)", "1 2 3 / 3 3 1 / 0"),
    view("a213.transpose(1, 2)", "2 3 1 / 3 1 3 / 0"),
    view("v3.t()", "3 / 1 / 0"),
]
PARTS = [
    view("x23[1]", "3 / 1 / 3"),
    view("x23[:, 1]", "2 / 3 / 1"),
    view("x23[0, 2]", " /  / 2"),
    view("x23[:, ::2]", "2 2 / 3 2 / 0"),
    view("x23[-1:]", "1 3 / 3 1 / 3"),
    view("x23[5:]", "0 3 / 3 1 / 6"),
    refused("x23[::-1]", "step must be greater than zero"),
    view("x23[...]", "2 3 / 3 1 / 0"),
    view("x23[()]", "2 3 / 3 1 / 0"),
    view("a234.narrow(2, 1, 2)", "2 3 2 / 12 4 1 / 1"),
    view("a234.select(1, 2)", "2 4 / 12 1 / 8"),
    view("v7.split(3)", "3 / 1 / 0", 0),
    view("v7.split(3)", "3 / 1 / 3", 1),
    view("v7.split(3)", "1 / 1 / 6", 2),
    view("v7.chunk(3)", "3 / 1 / 0", 0),
    view("v7.chunk(3)", "3 / 1 / 3", 1),
    view("v7.chunk(3)", "1 / 1 / 6", 2),
    view("v6.tensor_split(4)", "2 / 1 / 0", 0),
    view("v6.tensor_split(4)", "2 / 1 / 2", 1),
    view("v6.tensor_split(4)", "1 / 1 / 4", 2),
    view("x23.unbind(0)", "3 / 1 / 0", 0),
    view("x23.unbind(0)", "3 / 1 / 3", 1),
    view("x23.hsplit(3)", "2 1 / 3 1 / 0", 0),
    view("x23.hsplit(3)", "2 1 / 3 1 / 1", 1),
    view("x23.hsplit(3)", "2 1 / 3 1 / 2", 2),
    view("a34.diagonal()", "3 / 5 / 0"),
    view("a34.diagonal(1)", "3 / 5 / 1"),
    copy("a34.diag()", "3 / 1 / 0", 12),
    new("torch.diag(v3)", "3 3 / 3 1 / 0", 36),
    view("v7.unfold(0, 3, 2)", "3 3 / 2 1 / 0"),
    view("v7.unfold(0, 3, 1)", "5 3 / 1 1 / 0"),
    copy("F.unfold(a1144, 2)", "1 4 9 / 36 9 1 / 0", 144),
    view("v8.as_strided((3, 3), (2, 1), 1)", "3 3 / 2 1 / 1"),
    view("v8[2:].as_strided((2,), (1,))", "2 / 1 / 2"),
    view("v8[2:].as_strided((2,), (1,), 0)", "2 / 1 / 0"),
    refused("v8.as_strided((3, 3), (4, 1))", "out of bounds for storage of size 32"),
    refused("v8.as_strided((2,), (-1,), 3)", "Negative strides are not supported"),
]
BROADCASTS = [
    view("a31.expand(3, 4)", "3 4 / 1 0 / 0"),
    view("a31.expand(2, 3, 4)", "2 3 4 / 0 1 0 / 0"),
    view("a31.expand(-1, 4)", "3 4 / 1 0 / 0"),
    view("a31.expand(3, 1)", "3 1 / 1 1 / 0"),
    copy("a31.repeat(1, 4)", "3 4 / 4 1 / 0", 48),
    copy("a31.repeat(1, 1)", "3 1 / 1 1 / 0", 12),
    copy("a31.tile(4)", "3 4 / 4 1 / 0", 48),
    copy("x23.repeat_interleave(2, 0)", "4 3 / 3 1 / 0", 48),
    view("torch.broadcast_to(v3, (2, 3))", "2 3 / 0 1 / 0"),
    copy("a31.expand(3, 4).reshape(12)", "12 / 1 / 0", 48),
    view("v1.expand(3, 4).reshape(12)", "12 / 0 / 0"),
    view("a31.expand(3, 4).view(3, 2, 2)", "3 2 2 / 1 0 0 / 0"),
    copy("a31.expand(3, 4).contiguous()", "3 4 / 4 1 / 0", 48),
    refused("e.add_(1)", "more than one element of the written-to tensor refers to a single"),
    view("torch.meshgrid(v3, v4)", "3 4 / 1 0 / 0"),
    view("a12.t().expand_as(a25)", "2 5 / 1 0 / 0"),
    new("x23 + v3", "2 3 / 3 1 / 0", 24),
    new("t + t", "3 2 / 1 3 / 0", 24),
    new("e + 0", "3 4 / 4 1 / 0", 48),
    copy("torch.clone(e)", "3 4 / 4 1 / 0", 48),
    copy("t.clone()", "3 2 / 1 3 / 0", 24),
    copy("t.clone(memory_format=torch.contiguous_format)", "3 2 / 2 1 / 0", 24),
    new("torch.zeros_like(t)", "3 2 / 1 3 / 0", 24),
    copy("a234[:, :, ::2].clone()", "2 3 2 / 6 2 1 / 0", 48),
    new("torch.empty_like(a234.permute(2, 0, 1))", "4 2 3 / 1 12 4 / 0", 96),
]
INDICES = [
    copy("x23[[0, 1]]", "2 3 / 3 1 / 0", 24),
    copy("x23[torch.tensor([0, 1])]", "2 3 / 3 1 / 0", 24),
    view("x23[torch.tensor(1)]", "3 / 1 / 3"),
    copy("x23[x23 > 2]", "3 / 1 / 0", 12),
    copy("x23[True]", "1 2 3 / 6 3 1 / 0", 24),
    copy("x23[torch.tensor(True)]", "1 2 3 / 6 3 1 / 0", 24),
    copy("a234[:, [0, 2]]", "2 2 4 / 8 4 1 / 0", 64),
    copy("a234[[0, 1], :, [0, 2]]", "2 3 / 3 1 / 0", 24),
    copy("a234[:, [0, 2], [1, 3]]", "2 2 / 2 1 / 0", 16),
    copy("a234[0, :, [0, 2]]", "3 2 / 2 1 / 0", 24),
    copy("x23.index_select(1, torch.tensor([2]))", "2 1 / 1 1 / 0", 8),
    copy("x23.gather(1, torch.tensor([[0], [2]]))", "2 1 / 1 1 / 0", 8),
    copy("x23.take(torch.tensor([0, 5]))", "2 / 1 / 0", 8),
    copy("x23.masked_select(x23 > 2)", "3 / 1 / 0", 12),
    new("x23.where(x23 > 2, 0)", "2 3 / 3 1 / 0", 24),
    copy("x23.take_along_dim(torch.tensor([[0], [2]]), 1)", "2 1 / 1 1 / 0", 8),
    copy("F.embedding(torch.tensor([[0, 1], [2, 4]]), a53)", "2 2 3 / 6 3 1 / 0", 48),
]
ORDERS = [
    copy("x23.flip(1)", "2 3 / 3 1 / 0", 24),
    copy("x23.fliplr()", "2 3 / 3 1 / 0", 24),
    copy("x23.roll(1, 1)", "2 3 / 3 1 / 0", 24),
    copy("x23.rot90()", "3 2 / 1 3 / 0", 24),
    new("x23.sort()", "2 3 / 3 1 / 0", 24),
    copy("torch.cat([x23, x23])", "4 3 / 3 1 / 0", 48),
    copy("torch.stack([x23, x23], 2)", "2 3 2 / 6 2 1 / 0", 48),
    new("a33.tril()", "3 3 / 3 1 / 0", 36),
    new("t @ x23", "3 3 / 3 1 / 0", 36),
    new("t.softmax(0)", "3 2 / 2 1 / 0", 24),
    new("x23.sum(0, keepdim=True)", "1 3 / 3 1 / 0", 12),
]
DTYPES = [
    view("c22.real", "2 2 / 4 2 / 0"),
    view("c22.imag", "2 2 / 4 2 / 1"),
    view("torch.view_as_real(c22)", "2 2 2 / 4 2 1 / 0"),
    view("torch.view_as_complex(a22)", "2 / 1 / 0"),
    refused("torch.view_as_complex(a22.t())", "last dimension with stride 1"),
    view("c22.conj()", "2 2 / 2 1 / 0"),
    copy("c22.conj().resolve_conj()", "2 2 / 2 1 / 0", 32),
    view("c22.conj().imag", "2 2 / 4 2 / 1"),
    view("x23.view(torch.int32)", "2 3 / 3 1 / 0"),
    view("x23.view(torch.uint8)", "2 12 / 12 1 / 0"),
    view("a24.view(torch.float64)", "2 2 / 2 1 / 0"),
    refused("x23.view(torch.float64)", "divisible by 2 to view Float as Double"),
    refused("t.view(torch.int16)", "must be 1 to view Float as Short"),
    refused("a24[:, 1:3].view(torch.float64)", "storage_offset.. must be divisible by 2"),
    view("a24[:, 2:4].view(torch.float64)", "2 1 / 2 1 / 1"),
    refused("a45[:2, 0:2].view(torch.float64)", "stride.0. must be divisible by 2"),
    same("x23.to(torch.float32)", "2 3 / 3 1 / 0"),
    same("x23.float()", "2 3 / 3 1 / 0"),
    copy("x23.half()", "2 3 / 3 1 / 0", 12),
    copy("t.half()", "3 2 / 1 3 / 0", 12),
    copy("x23.to(copy=True)", "2 3 / 3 1 / 0", 24),
    view("x23.detach()", "2 3 / 3 1 / 0"),
    view("x23.data", "2 3 / 3 1 / 0"),
    view("x23.view(x23.shape)", "2 3 / 3 1 / 0"),
]
FORMATS = [
    same("x23.contiguous()", "2 3 / 3 1 / 0"),
    copy("t.contiguous()", "3 2 / 2 1 / 0", 24),
    copy("a2345.to(memory_format=torch.channels_last)", "2 3 4 5 / 60 1 15 3 / 0", 480),
    copy("a2345.contiguous(memory_format=torch.channels_last)", "2 3 4 5 / 60 1 15 3 / 0", 480),
    same("a2145.contiguous(memory_format=torch.channels_last)", "2 1 4 5 / 20 20 5 1 / 0"),
    view("b.permute(0, 2, 3, 1)", "2 4 5 3 / 60 15 3 1 / 0"),
    refused("b.view(2, 60)", "view size is not compatible"),
    copy("b.reshape(2, 60)", "2 60 / 60 1 / 0", 480),
    view("b.flatten(2)", "2 3 20 / 60 1 3 / 0"),
    new("b + 1", "2 3 4 5 / 60 1 15 3 / 0", 480),
]
ROWS = [*SHAPES, *AXES, *PARTS, *BROADCASTS, *INDICES, *ORDERS, *DTYPES, *FORMATS]
