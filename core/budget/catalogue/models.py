"""The models that everyone compares, one row each in models.toml."""

from typing import Any, Final

from core.budget.table import read_table
from core.models.spec import Beyond, Indexer, LatentAttention, Mixture, ModelSpec

PARTS: Final = {"mixture": Mixture, "latent": LatentAttention, "indexer": Indexer}


def _spec(row: dict[str, Any]) -> ModelSpec:
    parts = {name: kind(**row.pop(name)) for name, kind in PARTS.items() if name in row}
    beyond = tuple(
        Beyond(reason=reason, num_params=count) for reason, count in row.pop("beyond", {}).items()
    )
    return ModelSpec(**row, **parts, beyond=beyond)


MODELS: Final = {key: _spec(row) for key, row in read_table(__file__).items()}
"""Key, as in a link -> architecture; makers together, families of a maker small to large."""
