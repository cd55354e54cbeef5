"""Rows of pure data: a TOML file beside a module and of its name."""

import tomllib
from pathlib import Path
from typing import Any


def read_table(module: str) -> dict[str, Any]:
    """Return what the TOML file of a module holds.

    `module` is its `__file__`.
    """
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
