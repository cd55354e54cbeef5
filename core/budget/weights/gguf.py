"""Bytes of a GGUF file: blocks of llama.cpp, and which type a recipe gives to which matrix.

Layouts: ggml-org/llama.cpp, ggml/src/ggml-common.h. Recipes: its src/llama-quant.cpp, without an
importance matrix. Norms, biases and routers stay in float32; what a file has beside its tensors
(the vocabulary, names, padding) is not counted.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from core.budget.check import check_choice
from core.budget.item import Formula, Item, item, total
from core.budget.weights.parameters import counts
from core.language import N_, _
from core.models.spec import ModelSpec

_BYTES: Final = Formula("num_params * block_bytes // block_size")
_SOURCE: Final = N_("ggml-org/llama.cpp: ggml-common.h for the blocks, llama-quant.cpp for the mix")


class GgufBlock(NamedTuple):
    """A block of stored numbers.

    Attributes:
        size: How many numbers.
        num_bytes: Codes, scales and minima together.
    """

    size: int
    num_bytes: int

    @property
    def bits_per_value(self) -> float:
        """Bits of one number, its share of the scales included."""
        return 8 * self.num_bytes / self.size


GGUF_BLOCKS: Final[Mapping[str, GgufBlock]] = {
    "F32": GgufBlock(1, 4),
    "Q8_0": GgufBlock(32, 2 + 32),
    "Q6_K": GgufBlock(256, 128 + 64 + 16 + 2),
    "Q5_K": GgufBlock(256, 2 + 2 + 12 + 32 + 128),
    "Q4_K": GgufBlock(256, 2 + 2 + 12 + 128),
    "Q4_0": GgufBlock(32, 2 + 16),
    "IQ4_XS": GgufBlock(256, 2 + 2 + 4 + 128),
}
"""Type -> its block: scales, minima and codes in the order of their fields."""


class _Mix(NamedTuple):
    """Types of a recipe: most matrices, the more important layers' values and down, the head."""

    usual: str
    important: str
    head: str


GGUF_RECIPES: Final[Mapping[str, _Mix]] = {
    "Q8_0": _Mix("Q8_0", "Q8_0", "Q8_0"),
    "Q6_K": _Mix("Q6_K", "Q6_K", "Q6_K"),
    "Q5_K_M": _Mix("Q5_K", "Q6_K", "Q6_K"),
    "Q4_K_M": _Mix("Q4_K", "Q6_K", "Q6_K"),
    "Q4_0": _Mix("Q4_0", "Q4_0", "Q6_K"),
}
"""Name of a file's recipe -> its types."""


def num_important(num_layers: int) -> int:
    """Return in how many layers values and the down projection get more bits.

    The first and the last eighth, and every third one between them.

    >>> [num_important(layers) for layers in (32, 40, 80)]
    [16, 20, 40]
    """
    eighth = num_layers // 8
    return sum(
        layer < eighth or layer >= 7 * num_layers // 8 or (layer - eighth) % 3 == 2
        for layer in range(num_layers)
    )


def gguf_weights(spec: ModelSpec, recipe: str) -> Item:
    """Return the bytes of the tensors of a dense Llama-like model in a recipe, kind by kind.

    Raises:
        ValueError: If the recipe is unknown, or the model has experts, latent attention or rows
            that are no multiple of 256, for which llama.cpp has other rules.
    """
    check_choice("recipe", recipe, tuple(GGUF_RECIPES))
    if spec.mixture is not None or spec.latent is not None:
        sentence = _("{model} has experts or latent attention: their rules are not in the recipes.")
        raise ValueError(sentence.format(model=spec.name))
    if spec.hidden_dim % 256 or spec.ffn_dim % 256 or spec.num_heads * spec.head_dim % 256:
        sentence = _("{model} has rows that are no multiple of 256 numbers, the size of a block.")
        raise ValueError(sentence.format(model=spec.name))
    mix, found = GGUF_RECIPES[recipe], counts(spec)
    many = num_important(spec.num_layers)
    value = spec.hidden_dim * spec.num_kv_heads * spec.head_dim
    sensitive = many * (value + spec.hidden_dim * spec.ffn_dim)
    table = spec.vocab_size * spec.hidden_dim
    parts = [
        _stored(N_("matrices of the layers"), found.matrices - sensitive, mix.usual),
        _stored(N_("values and down projections with more bits"), sensitive, mix.important),
        _stored(N_("token embedding"), table, mix.head if spec.tied else mix.usual),
        _stored(N_("norms and biases"), found.total - found.matrices - _tables(spec), "F32"),
    ]
    if not spec.tied:
        parts.append(_stored(N_("head"), table, mix.head))
    return total("weights", parts, source=_SOURCE)


def _tables(spec: ModelSpec) -> int:
    return (1 if spec.tied else 2) * spec.vocab_size * spec.hidden_dim


def _stored(name: str, num_params: int, kind: str) -> Item:
    block = GGUF_BLOCKS[kind]
    values = {"num_params": num_params, "block_bytes": block.num_bytes, "block_size": block.size}
    return item(name, _BYTES, values, unit="bytes", kind="exact", source=_SOURCE)
