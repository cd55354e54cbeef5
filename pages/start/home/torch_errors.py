"""Error texts of torch that beginners meet, with their reason and their remedy."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("torch_errors.toml")


@dataclass(frozen=True, kw_only=True, slots=True)
class TorchError:
    """One error text, word for word; `code` raises it, `why` and `fix` are in both languages."""

    slug: str
    type: str
    text: str
    code: str
    words: str
    why: Mapping[str, str]
    fix: Mapping[str, str]
    system: str = ""  # platform.system() of the only system that says it in these words


@cache
def load_torch_errors() -> tuple[TorchError, ...]:
    """Return the error texts in the order of the file."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["error"]
    return tuple(TorchError(**{**row, "code": row["code"].strip()}) for row in rows)
