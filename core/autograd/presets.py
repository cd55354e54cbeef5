"""Programs to begin with, as `presets.toml` has them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from torch import Tensor

from core.autograd.leaves import leaves_in


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A program and the tensors that it begins with."""

    key: str  # in links
    title: str  # what it shows, a text of the catalogue
    source: str
    leaves: str  # what it is handed, as `leaves_in` reads it
    nudged: str  # the leaf that a reader moves first
    refusal: str = ""  # how torch refuses it, a kind of `refusals.toml`

    def tensors(self) -> dict[str, Tensor]:
        """Return fresh leaves by name."""
        return leaves_in(self.leaves)


_ROWS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {row["key"]: Preset(**row) for row in _ROWS["preset"]}
)
