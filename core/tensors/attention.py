"""Multi-head attention, a statement at a time: view or copy, bytes and FLOPs of each.

Split the heads, multiply queries by keys, softmax, weigh the values, merge. On tensors without data
at the size of a language model; with data at a size whose numbers can be seen.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from core.expressions import MATERIALIZED, ON_META
from core.language import N_
from core.tensors.examples import DTYPES, without_data
from core.tensors.rules import Kind
from core.tensors.trace import Step, Trace, trace


@dataclass(frozen=True, kw_only=True, slots=True)
class AttentionSize:
    """Sizes of one attention layer, and whether its tensors hold numbers."""

    title: str
    batch_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    dtype: str
    has_data: bool

    @property
    def scale(self) -> float:
        """What queries are multiplied by: one over the root of the head dimension."""
        return round(1 / math.sqrt(self.head_dim), 6)


TOY: Final = AttentionSize(
    title=N_("Toy: 2 heads of 4"),
    batch_size=2,
    num_heads=2,
    num_kv_heads=2,
    head_dim=4,
    dtype="float32",
    has_data=True,
)
# Grattafiori et al. 2024: 64 query heads and 8 KV heads of 128, 8,192 tokens; 3.1 takes 131,072.
LLAMA_70B: Final = AttentionSize(
    title="Llama-3 70B",
    batch_size=1,
    num_heads=64,
    num_kv_heads=8,
    head_dim=128,
    dtype="bfloat16",
    has_data=False,
)
SIZES: Final[Mapping[str, AttentionSize]] = {"toy": TOY, "llama-3-70b": LLAMA_70B}
_SPLIT: Final = "rearrange({x}, 'b t (h d) -> b h t d', h={heads})"
_MERGE: Final = "rearrange({x}, 'b h t d -> b t (h d)')"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """One statement of a program, and what it did."""

    name: str  # in the reader's catalogue
    code: str
    kind: Kind  # "view" if nothing in it copied or computed
    shape: tuple[int, ...]
    num_bytes: int  # of the storage of its result; 0 of a view
    hidden_bytes: int  # of storages that it made on the way and let go
    flops: int  # of its products


@dataclass(frozen=True, kw_only=True, slots=True)
class AttentionRun:
    """A program that ran; without data it has neither weights nor values of the result.

    The weights are those of the first head of the first sequence, after softmax.
    """

    size: AttentionSize
    seq_len: int
    stages: tuple[Stage, ...]
    weights: npt.NDArray[np.float64] | None
    result: npt.NDArray[np.float64] | None

    def stage(self, name: str) -> Stage:
        """Return the statement of that name."""
        return next(stage for stage in self.stages if stage.name == name)


def by_hand(size: AttentionSize, seq_len: int) -> dict[str, str]:
    """Return attention written out: name of each statement -> statement."""
    lines = _split(size)
    if size.num_kv_heads != size.num_heads:
        lines |= {
            N_("repeat K"): _repeated("kh", size, seq_len),
            N_("repeat V"): _repeated("vh", size, seq_len),
        }
    return lines | {
        N_("scores"): f"scores = (qh * {size.scale}) @ kh.transpose(-2, -1)",
        N_("softmax"): "weights = torch.softmax(scores, -1)",
        N_("weighted sum"): "y = weights @ vh",
        N_("merge"): _MERGE.format(x="y"),
    }


def fused(size: AttentionSize, _seq_len: int) -> dict[str, str]:
    """Return attention by `F.scaled_dot_product_attention`: name of each statement -> statement."""
    return _split(size) | {
        N_("SDPA"): "y = F.scaled_dot_product_attention(qh, kh, vh)",
        N_("merge"): _MERGE.format(x="y"),
    }


def weight_per_head(size: AttentionSize, _seq_len: int) -> dict[str, str]:
    """Return a linear map inside each head: name of each statement -> statement.

    CS336 lecture 2: split the heads, multiply each by `w`, merge.
    """
    return {
        N_("split"): f"xh = rearrange(x, '... (heads d) -> ... heads d', heads={size.num_heads})",
        N_("multiply"): "y = einsum(xh, w, '... d, d e -> ... e')",
        N_("merge"): "rearrange(y, '... heads e -> ... (heads e)')",
    }


def _split(size: AttentionSize) -> dict[str, str]:
    return {
        N_("split Q"): "qh = " + _SPLIT.format(x="q", heads=size.num_heads),
        N_("split K"): "kh = " + _SPLIT.format(x="k", heads=size.num_kv_heads),
        N_("split V"): "vh = " + _SPLIT.format(x="v", heads=size.num_kv_heads),
    }


def _repeated(name: str, size: AttentionSize, seq_len: int) -> str:
    b, g, h, d = size.batch_size, size.num_kv_heads, size.num_heads, size.head_dim
    wide = f"{b}, {g}, {h // g}, {seq_len}, {d}"
    return f"{name} = {name}[:, :, None].expand({wide}).reshape({b}, {h}, {seq_len}, {d})"


def run_attention(size: AttentionSize, seq_len: int, lines: Mapping[str, str]) -> AttentionRun:
    """Run a program of this file, by name of each statement, and tell what each did.

    Raises:
        ValueError: If torch refuses it.
    """
    ran = trace(
        "\n".join(lines.values()),
        _inputs(size, seq_len),
        MATERIALIZED if size.has_data else ON_META,
    )
    if ran.error:
        raise ValueError(ran.error.torch_message.strip() or ran.error.message)
    stages = tuple(
        _stage(name, code, [step for step in ran.steps if step.span.line == number])
        for number, (name, code) in enumerate(lines.items(), 1)
    )
    weights = ran.variables.get("weights", ())
    return AttentionRun(
        size=size,
        seq_len=seq_len,
        stages=stages,
        weights=_values_of(ran, weights[0])[0, 0] if weights and size.has_data else None,
        result=_values_of(ran, ran.steps[-1].outputs[0].key) if size.has_data else None,
    )


def _inputs(size: AttentionSize, seq_len: int) -> dict[str, Tensor]:
    """Return what the programs read: q, k, v of random numbers, x and w of ones."""
    wide, narrow = (
        (size.batch_size, seq_len, heads * size.head_dim)
        for heads in (size.num_heads, size.num_kv_heads)
    )
    shapes = {"q": wide, "k": narrow, "v": narrow}
    square = {"x": wide, "w": (size.head_dim, size.head_dim)}
    if not size.has_data:
        return {name: without_data(shape, size.dtype) for name, shape in (shapes | square).items()}
    chance = torch.Generator().manual_seed(0)
    dtype = DTYPES[size.dtype]
    drawn = {name: torch.randn(shape, generator=chance) for name, shape in shapes.items()}
    ones = {name: torch.ones(shape) for name, shape in square.items()}
    return {name: tensor.to(dtype) for name, tensor in (drawn | ones).items()}


def _stage(name: str, code: str, steps: list[Step]) -> Stage:
    last = steps[-1].outputs[0]
    made = sum(step.bytes_made for step in steps)
    is_view = all(step.kind in {"view", "same"} for step in steps)
    num_bytes = 0 if is_view else last.layout.storage_bytes
    return Stage(
        name=name,
        code=code,
        kind="view" if is_view else "new" if any(step.kind == "new" for step in steps) else "copy",
        shape=last.layout.shape,
        num_bytes=num_bytes,
        hidden_bytes=max(made - num_bytes, 0),
        flops=sum(row.flops for step in steps for row in step.aten),
    )


def _values_of(ran: Trace, key: str) -> npt.NDArray[np.float64]:
    tensor = next(each for each in ran.tensors if each.key == key)
    storage = next(each for each in ran.storages if each.key == tensor.storage)
    return np.asarray(storage.values)[tensor.layout.addresses()]


def largest_difference(size: AttentionSize, seq_len: int) -> float:
    """Return how far attention by hand is from SDPA at most, at a size that has data."""
    hand, kernel = (
        run_attention(size, seq_len, lines(size, seq_len)).result for lines in (by_hand, fused)
    )
    if hand is None or kernel is None:
        raise AssertionError(size)
    return float(np.abs(hand - kernel).max())
