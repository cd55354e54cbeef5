"""Shapes that meet in real programs, element by element and in matrix products."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.language import N_


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """Shapes to begin with.

    Attributes:
        key: In no link; links hold the shapes.
        title: What they are.
        shapes: Of two to four tensors.
        dim: The dimension that tells most, counted from the right.
    """

    key: str
    title: str
    shapes: tuple[tuple[int, ...], ...]
    dim: int = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """Two shapes to begin with: what they are, and both."""

    key: str
    title: str
    left: tuple[int, ...]
    right: tuple[int, ...]


# GPT-2 small (Radford et al. 2019): 12 heads of 64, width 768; here 128 tokens.
# fmt: off
EXAMPLES: Final = (
    Example(key="table", title=N_("A column and a row: a table"), shapes=((3, 1), (1, 4))),
    Example(key="bias", title=N_("A bias for every row"), shapes=((4, 6), (6,)), dim=-2),
    Example(key="refused", title=N_("A mean without keepdim: refused"), shapes=((8, 3), (8,))),
    Example(key="loss", title=N_("A loss with a dimension too many"), shapes=((32, 1), (32,))),
    Example(key="distances", title=N_("Distances of all pairs of points"),
            shapes=((5, 1, 3), (1, 6, 3)), dim=-2),
    Example(key="pixels", title=N_("Normalizing images, channel by channel"),
            shapes=((32, 3, 224, 224), (3, 1, 1)), dim=-3),
    Example(key="norm", title=N_("LayerNorm: mean, gain and bias"),
            shapes=((2, 128, 768), (2, 128, 1), (768,), (768,))),
    Example(key="rope", title=N_("RoPE: one table of angles for every head"),
            shapes=((2, 128, 12, 64), (1, 128, 1, 64)), dim=-2),
    Example(key="padding", title=N_("A padding mask for scores of every head"),
            shapes=((4, 12, 128, 128), (4, 1, 1, 128)), dim=-3),
    Example(key="masks", title=N_("Scores, padding mask and causal mask"),
            shapes=((4, 12, 128, 128), (4, 1, 1, 128), (128, 128)), dim=-3),
)
# fmt: on
BY_KEY: Final[Mapping[str, Example]] = {each.key: each for each in EXAMPLES}
# Radford et al. 2019: GPT-2 small has 12 heads of 64. Touvron et al. 2023: Llama-2 70B has 64 query
# heads in 8 groups, one KV head of 128 each.
# fmt: off
PRODUCTS: Final = (
    Product(key="linear", title=N_("A linear layer"), left=(4, 8, 16, 32), right=(32, 2)),
    Product(key="matrices", title=N_("Two matrices"), left=(16, 32), right=(32, 2)),
    Product(key="dot", title=N_("Two vectors: one number"), left=(32,), right=(32,)),
    Product(key="vector", title=N_("A matrix and a vector"), left=(16, 32), right=(32,)),
    Product(key="scores", title=N_("Attention scores of GPT-2"), left=(2, 12, 128, 64),
            right=(2, 12, 64, 128)),
    Product(key="batches", title=N_("Two batches that stretch"), left=(2, 1, 16, 32),
            right=(3, 32, 2)),
    Product(key="grouped", title=N_("Grouped-query attention: K is copied for every head"),
            left=(1, 8, 8, 1024, 128), right=(1, 8, 1, 128, 1024)),
    Product(key="refused", title=N_("Inner lengths that differ"), left=(16, 32), right=(31, 2)),
)
# fmt: on
PRODUCT_BY_KEY: Final[Mapping[str, Product]] = {each.key: each for each in PRODUCTS}
