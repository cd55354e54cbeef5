"""Matrix products of real programs, as shapes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.language import N_


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """Two shapes to begin with: what they are, and both."""

    key: str
    title: str
    left: tuple[int, ...]
    right: tuple[int, ...]


# Radford et al. 2019: GPT-2 small has 12 heads of 64. Touvron et al. 2023: Llama-2 70B has 64 query
# heads in 8 groups, one KV head of 128 each.
PRODUCTS: Final = (
    Product(key="linear", title=N_("A linear layer"), left=(4, 8, 16, 32), right=(32, 2)),
    Product(key="matrices", title=N_("Two matrices"), left=(16, 32), right=(32, 2)),
    Product(key="dot", title=N_("Two vectors: one number"), left=(32,), right=(32,)),
    Product(key="vector", title=N_("A matrix and a vector"), left=(16, 32), right=(32,)),
    Product(
        key="scores",
        title=N_("Attention scores of GPT-2"),
        left=(2, 12, 128, 64),
        right=(2, 12, 64, 128),
    ),
    Product(
        key="batches", title=N_("Two batches that stretch"), left=(2, 1, 16, 32), right=(3, 32, 2)
    ),
    Product(
        key="grouped",
        title=N_("Grouped-query attention: K is copied for every head"),
        left=(1, 8, 8, 1024, 128),
        right=(1, 8, 1, 128, 1024),
    ),
    Product(key="refused", title=N_("Inner lengths that differ"), left=(16, 32), right=(31, 2)),
)
BY_KEY: Final[Mapping[str, Product]] = {each.key: each for each in PRODUCTS}
