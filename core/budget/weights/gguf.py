"""Bytes of a GGUF file: blocks of llama.cpp, and which type a recipe gives to which matrix.

Layouts: ggml-org/llama.cpp, ggml/src/ggml-common.h. Recipes: its src/llama-quant.cpp, without an
importance matrix, IQ4_XS with one, as such files are made. Norms, biases and routers stay in
float32; what a file has beside its tensors (the vocabulary, names, padding) is not counted.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from core.budget.check import check_choice
from core.budget.item import Formula, Item, as_guessed, counted, total
from core.budget.weights.parameters import counts
from core.language import N_, _
from core.models.spec import ModelSpec

_BYTES: Final = Formula("num_params * block_bytes // block_size")
_SOURCE: Final = N_("ggml-org/llama.cpp: ggml-common.h for the blocks, llama-quant.cpp for the mix")


class GgufBlock(NamedTuple):
    """A block of stored numbers.

    Attributes:
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
    """Types of a recipe: most matrices, the more important layers' values and down, the head.

    `shared` is for the other values, where `is_shared` says that several heads share them.
    """

    usual: str
    important: str
    head: str
    shared: str
    is_shared: Callable[[ModelSpec], bool]

    @property
    def is_mixed(self) -> bool:
        """Whether matrices of the layers have more than one type."""
        return {self.important, self.shared} != {self.usual}

    @property
    def row_size(self) -> int:
        """How many numbers a row of a matrix must be a multiple of."""
        return max(GGUF_BLOCKS[kind].size for kind in self[:4])


_LAYERS_OF_70B: Final = 80  # llama.cpp knows Llama's 70B by this number; the 65B shares no heads


def _in_70b(spec: ModelSpec) -> bool:
    return spec.num_layers == _LAYERS_OF_70B and spec.num_heads != spec.num_kv_heads


def _by_four_heads(spec: ModelSpec) -> bool:
    return spec.num_heads >= 4 * spec.num_kv_heads


GGUF_RECIPES: Final[Mapping[str, _Mix]] = {
    "Q8_0": _Mix("Q8_0", "Q8_0", "Q8_0", "Q8_0", _in_70b),
    "Q6_K": _Mix("Q6_K", "Q6_K", "Q6_K", "Q6_K", _in_70b),
    "Q5_K_M": _Mix("Q5_K", "Q6_K", "Q6_K", "Q5_K", _in_70b),
    "Q4_K_M": _Mix("Q4_K", "Q6_K", "Q6_K", "Q5_K", _in_70b),
    "Q4_0": _Mix("Q4_0", "Q4_0", "Q6_K", "Q4_0", _in_70b),
    "IQ4_XS": _Mix("IQ4_XS", "IQ4_XS", "Q6_K", "Q5_K", _by_four_heads),
}
"""Name of a file's recipe -> its types."""


_FUSED: Final = ("phi",)  # query, key and value are one matrix in the files of these models


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
        ValueError: If the recipe is unknown, or llama.cpp has other rules for the model: one with
            experts, latent attention, learned positions, a feed-forward without a gate, rows that
            are no whole number of blocks or, in a mixed recipe, fused matrices.
    """
    check_choice("recipe", recipe, tuple(GGUF_RECIPES))
    mix, found = GGUF_RECIPES[recipe], counts(spec)
    _check_rules(spec, recipe)
    many = num_important(spec.num_layers) if mix.important != mix.usual else 0
    value = spec.hidden_dim * spec.num_kv_heads * spec.head_dim
    sensitive = many * (value + spec.hidden_dim * spec.ffn_dim)
    shared = 0
    if mix.shared != mix.usual and mix.is_shared(spec):
        shared = (spec.num_layers - many) * value
    table = spec.vocab_size * spec.hidden_dim
    usual = found.matrices - sensitive - shared
    parts = [
        _stored(N_("matrices of the layers"), usual, mix.usual),
        _stored(N_("token embedding"), table, mix.head if spec.tied else mix.usual),
        _stored(N_("norms and biases"), found.total - found.matrices - _tables(spec), "F32"),
    ]
    if sensitive:
        name = N_("values and down projections with more bits")
        parts.insert(1, _stored(name, sensitive, mix.important))
    if shared:
        parts.append(_stored(N_("values that several heads share"), shared, mix.shared))
    if not spec.tied:
        parts.append(_stored(N_("head"), table, mix.head))
    return as_guessed(total("weights", parts, source=_SOURCE), spec)


def gguf_files(spec: ModelSpec) -> tuple[dict[str, Item], tuple[str, ...]]:
    """Return the bytes by recipe, wide to narrow, and why the recipes that are missing refuse."""
    items: dict[str, Item] = {}
    refusals: dict[str, None] = {}
    for recipe in GGUF_RECIPES:
        try:
            items[recipe] = gguf_weights(spec, recipe)
        except ValueError as error:
            refusals[str(error)] = None
    return items, tuple(refusals)


def bits_per_weight(spec: ModelSpec, weights: Item) -> float:
    """Return the bits of a weight in a file, scales and what stays wide included."""
    return 8 * weights.amount / counts(spec).total


def _check_rules(spec: ModelSpec, recipe: str) -> None:
    mix = GGUF_RECIPES[recipe]
    row_lengths = spec.hidden_dim, spec.ffn_dim, spec.num_heads * spec.head_dim
    if spec.mixture is not None or spec.latent is not None:
        sentence = _("{model} has experts or latent attention: their rules are not in the recipes.")
    elif spec.learned_positions or not spec.gated or not spec.is_plain:
        sentence = _("{model} is not built like Llama: the recipes here do not hold for it.")
    elif any(length % mix.row_size for length in row_lengths):
        sentence = _(
            "{model} has rows that are no multiple of {size} numbers, the size of a block."
        )
    elif mix.is_mixed and spec.name.lower().startswith(_FUSED):
        sentence = _("{recipe} of {model} is not worked out: its file joins matrices into one.")
    else:
        return
    raise ValueError(sentence.format(model=spec.name, recipe=recipe, size=mix.row_size))


def _tables(spec: ModelSpec) -> int:
    return (1 if spec.tied else 2) * spec.vocab_size * spec.hidden_dim


def _stored(name: str, num_params: int, kind: str) -> Item:
    block = GGUF_BLOCKS[kind]
    values = {"num_params": num_params, "block_bytes": block.num_bytes, "block_size": block.size}
    return counted(name, _BYTES, values, _SOURCE)
