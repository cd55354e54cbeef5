"""Every kind of operation on layouts: the trace says what torch does."""

import math
import re

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.expressions.dispatch import storage_id
from core.expressions.names import MUTATION
from core.tensors.trace import layout_of, trace
from core.tensors.views import explain_view

# `t` is `x.t()`, `e` an expanded column, `b` a batch of images in channels_last; other names end in
# their shape: `a234` is `arange(24.0).view(2, 3, 4)`.
TEXTS = {
    "view": r"""
x23.view(3, 2) | x23.view(-1) | x23.t().view(3, 2, 1) | x23.t().view(3, 1, 2)
a234.permute(2, 0, 1).reshape(4, 6) | a234[:, :, ::2].reshape(6, 2)
a234[:, :, ::2].reshape(2, 6) | x23.reshape(2, 3) | x23.flatten() | x23.ravel() | a234.flatten(1)
x23.unflatten(1, (3, 1)) | s.reshape(1, 1) | x23.view_as(y32) | x23.transpose(0, 1) | x23.t()
x23.T | x23.mT | a234.permute(2, 0, 1) | a234.movedim(0, -1) | a234.swapaxes(0, 2)
x23.unsqueeze(0) | x23.unsqueeze(1) | x23.unsqueeze(-1) | x23.t().unsqueeze(1) | x23[None]
a131.squeeze() | x23.squeeze(0) | a13.t() | a03.t() | a13.t().view(3) | a213.transpose(0, 1)
a213.transpose(1, 2) | v3.t() | x23[1] | x23[:, 1] | x23[0, 2] | x23[:, ::2] | x23[-1:] | x23[5:]
x23[...] | x23[()] | a234.narrow(2, 1, 2) | a234.select(1, 2) | v7.split(3) | v7.chunk(3)
v6.tensor_split(4) | x23.unbind(0) | x23.hsplit(3) | a34.diagonal() | a34.diagonal(1)
v7.unfold(0, 3, 2) | v7.unfold(0, 3, 1) | v8.as_strided((3, 3), (2, 1), 1)
v8[2:].as_strided((2,), (1,)) | v8[2:].as_strided((2,), (1,), 0) | a31.expand(3, 4)
a31.expand(2, 3, 4) | a31.expand(-1, 4) | a31.expand(3, 1) | torch.broadcast_to(v3, (2, 3))
v1.expand(3, 4).reshape(12) | a31.expand(3, 4).view(3, 2, 2) | torch.meshgrid(v3, v4)
a12.t().expand_as(a25) | x23[torch.tensor(1)] | c22.real | c22.imag | torch.view_as_real(c22)
torch.view_as_complex(a22) | c22.conj() | c22.conj().imag | x23.view(torch.int32)
x23.view(torch.uint8) | a24.view(torch.float64) | a24[:, 2:4].view(torch.float64) | x23.detach()
x23.data | x23.view(x23.shape) | b.permute(0, 2, 3, 1) | b.flatten(2)
""",
    "copy": r"""
x23.t().reshape(6) | a234.transpose(0, 1).reshape(3, 8) | a234[:, :, 1:3].reshape(2, 6)
x23.t().flatten() | a34.diag() | F.unfold(a1144, 2) | a31.repeat(1, 4) | a31.repeat(1, 1)
a31.tile(4) | x23.repeat_interleave(2, 0) | a31.expand(3, 4).reshape(12)
a31.expand(3, 4).contiguous() | torch.clone(e) | t.clone()
t.clone(memory_format=torch.contiguous_format) | a234[:, :, ::2].clone() | x23[[0, 1]]
x23[torch.tensor([0, 1])] | x23[x23 > 2] | x23[True] | x23[torch.tensor(True)] | a234[:, [0, 2]]
a234[[0, 1], :, [0, 2]] | a234[:, [0, 2], [1, 3]] | a234[0, :, [0, 2]]
x23.index_select(1, torch.tensor([2])) | x23.gather(1, torch.tensor([[0], [2]]))
x23.take(torch.tensor([0, 5])) | x23.masked_select(x23 > 2)
x23.take_along_dim(torch.tensor([[0], [2]]), 1) | F.embedding(torch.tensor([[0, 1], [2, 4]]), a53)
x23.flip(1) | x23.fliplr() | x23.roll(1, 1) | x23.rot90() | torch.cat([x23, x23])
torch.stack([x23, x23], 2) | c22.conj().resolve_conj() | x23.half() | t.half() | x23.to(copy=True)
t.contiguous() | a2345.to(memory_format=torch.channels_last)
a2345.contiguous(memory_format=torch.channels_last) | b.reshape(2, 60)
""",
    "new": r"""
torch.diag(v3) | x23 + v3 | t + t | e + 0 | torch.zeros_like(t)
torch.empty_like(a234.permute(2, 0, 1)) | x23.where(x23 > 2, 0) | x23.sort() | a33.tril()
t @ x23 | t.softmax(0) | x23.sum(0, keepdim=True) | b + 1
""",
    "same": r"""
v6.flatten() | x23.to(torch.float32) | x23.float() | x23.contiguous()
a2145.contiguous(memory_format=torch.channels_last)
""",
}
REFUSED = {
    "x23.t().view(6)": "view size is not compatible",
    "x23[::-1]": "step must be greater than zero",
    "v8.as_strided((3, 3), (4, 1))": "out of bounds for storage of size 32",
    "v8.as_strided((2,), (-1,), 3)": "Negative strides are not supported",
    "e.add_(1)": "more than one element of the written-to tensor refers to a single",
    "torch.view_as_complex(a22.t())": "last dimension with stride 1",
    "x23.view(torch.float64)": "divisible by 2 to view Float as Double",
    "t.view(torch.int16)": "must be 1 to view Float as Short",
    "a24[:, 1:3].view(torch.float64)": "storage_offset.. must be divisible by 2",
    "a45[:2, 0:2].view(torch.float64)": "stride.0. must be divisible by 2",
    "b.view(2, 60)": "view size is not compatible",
}
ROWS = [
    (kind, text.strip())
    for kind, texts in TEXTS.items()
    for text in re.split(r"[|\n]", texts)
    if text
]


def counted(digits, dtype=torch.float32):
    shape = [int(digit) for digit in digits]
    return torch.arange(float(math.prod(shape))).to(dtype).view(shape)


def tensors_of(text):
    """The tensors that a text names: "a234" has shape (2, 3, 4)."""
    made = {
        "t": counted("23").t(),
        "e": counted("31").expand(3, 4),
        "s": torch.zeros(()),
        "b": counted("2345").contiguous(memory_format=torch.channels_last),
    }
    for name in re.findall(r"\b[xyavc]\d+\b", text):
        made[name] = counted(name[1:], torch.complex64 if name[0] == "c" else torch.float32)
    return {name: x for name, x in made.items() if re.search(rf"\b{name}\b", text)}


def outputs_of(result):
    return [result] if isinstance(result, torch.Tensor) else [*result]


@pytest.mark.filterwarnings("ignore")  # torch.meshgrid's, of a default to come
@pytest.mark.parametrize(("kind", "text"), ROWS, ids=[text for _kind, text in ROWS])
def test_an_operation_makes_the_layouts_that_torch_makes(kind, text):
    names = tensors_of(text)
    run = trace(text, names, profile=MUTATION)
    assert run.error is None
    step, made = run.steps[-1], outputs_of(eval(text, {"torch": torch, "F": F, **names}))  # noqa: S307
    made = [x for x in made if torch.is_tensor(x)]
    assert step.kind == kind
    assert [each.layout for each in step.outputs] == [layout_of(x) for x in made]
    is_shared = storage_id(made[0]) in map(storage_id, names.values())
    assert is_shared == (kind in {"view", "same"})


@pytest.mark.parametrize("text", REFUSED)
def test_what_torch_refuses_is_refused_in_its_words(text):
    names = tensors_of(text)
    run = trace(text, names, profile=MUTATION)
    assert re.search(REFUSED[text], run.error.torch_message), run.error.torch_message
    with pytest.raises((RuntimeError, ValueError), match=REFUSED[text]):
        eval(text, {"torch": torch, "F": F, **names})  # noqa: S307  our own table
    if run.refused_shape:
        before = run.tensors[-1].layout
        assert explain_view(before.shape, before.stride, run.refused_shape).kind == "break"


def test_there_are_texts_of_every_kind():
    assert len(ROWS) + len(REFUSED) > 150
