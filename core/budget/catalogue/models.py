"""The models that everyone compares, one row each in models.toml."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from core.models.spec import LatentAttention, Mixture, ModelSpec

_ROWS: Final = Path(__file__).with_name("models.toml")


def _spec(row: dict[str, Any]) -> ModelSpec:
    mixture, latent = row.pop("mixture", None), row.pop("latent", None)
    return ModelSpec(
        **row,
        mixture=Mixture(**mixture) if mixture else None,
        latent=LatentAttention(**latent) if latent else None,
    )


def _read() -> Mapping[str, ModelSpec]:
    rows = tomllib.loads(_ROWS.read_text(encoding="utf-8"))
    return MappingProxyType({key: _spec(row) for key, row in rows.items()})


MODELS: Final = _read()
"""Key, as in a link -> architecture; families together, small to large."""
