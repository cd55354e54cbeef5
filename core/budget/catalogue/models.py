"""The models that everyone compares, one row each in models.toml."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from core.models.spec import Beyond, Indexer, LatentAttention, Mixture, ModelSpec

_ROWS: Final = Path(__file__).with_name("models.toml")
_PARTS: Final = {"mixture": Mixture, "latent": LatentAttention, "indexer": Indexer}


def _spec(row: dict[str, Any]) -> ModelSpec:
    parts = {name: kind(**row.pop(name)) for name, kind in _PARTS.items() if name in row}
    beyond = tuple(
        Beyond(reason=reason, num_params=count) for reason, count in row.pop("beyond", {}).items()
    )
    return ModelSpec(**row, **parts, beyond=beyond)


def _read() -> Mapping[str, ModelSpec]:
    rows = tomllib.loads(_ROWS.read_text(encoding="utf-8"))
    return MappingProxyType({key: _spec(row) for key, row in rows.items()})


MODELS: Final = _read()
"""Key, as in a link -> architecture; makers together, families of a maker small to large."""
