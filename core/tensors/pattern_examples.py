"""Patterns and equations to begin with: what lectures show, and what language models do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.language import N_
from core.tensors.einops_plan import Operation

# Of axes for which nobody has set a length, by place.
ALL_LENGTHS: Final = (2, 4, 2, 3, 2, 2)
EINSUM_LENGTHS: Final = (2, 4, 2, 3, 4, 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class PatternExample:
    """A call of einops.

    Attributes:
        key: In links.
        title: What it shows.
        operation, pattern, reduction: Of the call.
        lengths: Of its axes in order of appearance.
        words: What the letters stand for, in the same order.
        axis: Place of the axis that is looked at, from 1.
        ones: Whether the tensor holds ones.
    """

    key: str
    title: str
    operation: Operation
    pattern: str
    lengths: tuple[int, ...]
    words: tuple[str, ...] = ()
    axis: int = 1
    reduction: str = "sum"
    ones: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class EinsumExample:
    """An einsum, in the notation of torch or of einops.

    Attributes:
        key: In links.
        title: What it shows.
        equation: As one of the two takes it.
        lengths: Of its indices in order of appearance.
        axis: Place of the index that is looked at, from 1.
    """

    key: str
    title: str
    equation: str
    lengths: tuple[int, ...]
    axis: int = 1


_BATCH, _TOKEN, _HEAD, _DIM = N_("batch"), N_("token"), N_("head"), N_("head dimension")
_BTHD: Final = (_BATCH, _TOKEN, _HEAD, _DIM)
# fmt: off
PATTERNS: Final = (
    PatternExample(key="split", title=N_("Split attention heads"), operation="rearrange",
                   pattern="b t (h d) -> b h t d", words=_BTHD,
                   lengths=(2, 4, 2, 3), axis=3),
    PatternExample(key="merge", title=N_("Merge attention heads"), operation="rearrange",
                   pattern="b h t d -> b t (h d)",
                   words=(_BATCH, _HEAD, _TOKEN, _DIM), lengths=(2, 2, 4, 3), axis=2),
    PatternExample(key="order", title=N_("The order inside a bracket: (d h) is not (h d)"),
                   operation="rearrange", pattern="b t (d h) -> b h t d",
                   words=(_BATCH, _TOKEN, _DIM, _HEAD), lengths=(2, 4, 3, 2), axis=4),
    PatternExample(key="reduce", title=N_("reduce: a dimension is summed away"), operation="reduce",
                   pattern="... hidden -> ...", lengths=(3, 4), axis=2, ones=True),
    PatternExample(key="mean", title=N_("reduce with mean: not the same as sum"),
                   operation="reduce", pattern="... hidden -> ...", lengths=(3, 4), axis=2,
                   reduction="mean", ones=True),
    PatternExample(key="pool", title=N_("Max pooling: 2 × 2 pixels become one"), operation="reduce",
                   pattern="b (h 2) (w 2) -> b h w",
                   words=(_BATCH, N_("row"), N_("column")), lengths=(2, 3, 4), axis=2,
                   reduction="max"),
    PatternExample(key="repeat", title=N_("repeat in front: a view with stride 0"),
                   operation="repeat", pattern="b c -> r b c",
                   words=(_BATCH, N_("channel"), N_("repetition")), lengths=(2, 3, 4), axis=3),
    PatternExample(key="repeat_kv", title=N_("repeat KV heads: a copy"), operation="repeat",
                   pattern="b g t d -> b (g r) t d",
                   words=(_BATCH, N_("KV head"), _TOKEN, _DIM, N_("repetition")),
                   lengths=(1, 2, 3, 4, 2), axis=2),
    PatternExample(key="patches", title=N_("Patches of an image (ViT)"), operation="rearrange",
                   pattern="b (h p) (w q) c -> b (h w) (p q c)",
                   words=(_BATCH, N_("patch row"), N_("row in a patch"), N_("patch column"),
                          N_("column in a patch"), N_("channel")),
                   lengths=(1, 2, 2, 3, 2, 3), axis=3),
    PatternExample(key="squeeze", title=N_("Drop a dimension of length 1 by its place"),
                   operation="rearrange", pattern="b 1 d -> b d",
                   words=(_BATCH, N_("feature")), lengths=(1, 3), axis=2),
    PatternExample(key="heads_gpt2", title=N_("Split attention heads · GPT-2"),
                   operation="rearrange", pattern="b t (h d) -> b h t d", words=_BTHD,
                   lengths=(2, 128, 12, 64), axis=3),
    PatternExample(key="rank_4",
                   title=N_("Four dimensions: batch, sequence, heads, head dimension"),
                   operation="rearrange", pattern="b s h d -> b h s d",
                   words=_BTHD, lengths=(32, 16, 16, 64), axis=3),
)
# fmt: on
# fmt: off
EINSUMS: Final = (
    EinsumExample(key="scores", title=N_("Attention scores"),
                  equation="b q h d, b k h d -> b h q k", lengths=(2, 4, 2, 3, 4), axis=4),
    EinsumExample(key="named", title=N_("Scores with long names"),
                  equation="batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2",
                  lengths=(2, 3, 4, 3), axis=3),
    EinsumExample(key="matmul", title=N_("Matrix product over any batch"),
                  equation="... i j, ... j k -> ... i k", lengths=(4, 16, 32, 2), axis=3),
    EinsumExample(key="dot", title=N_("Dot product"), equation="i,i->", lengths=(8,), axis=1),
    EinsumExample(key="outer", title=N_("Outer product: nothing is summed"), equation="i,j->ij",
                  lengths=(4, 3), axis=1),
    EinsumExample(key="batch", title=N_("Batched product"), equation="bij,bjk->bik",
                  lengths=(2, 3, 4, 5), axis=3),
    EinsumExample(key="chain", title=N_("Three matrices: the order decides"),
                  equation="ij,jk,kl->il", lengths=(128, 2, 128, 2), axis=2),
    EinsumExample(key="scores_large", title=N_("Attention scores, 4,096 tokens"),
                  equation="b q h d, b k h d -> b h q k", lengths=(1, 4096, 64, 128, 4096), axis=2),
)
# fmt: on
PATTERN_BY_KEY: Final[Mapping[str, PatternExample]] = {each.key: each for each in PATTERNS}
EINSUM_BY_KEY: Final[Mapping[str, EinsumExample]] = {each.key: each for each in EINSUMS}
