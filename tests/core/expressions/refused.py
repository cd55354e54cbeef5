"""Texts that must be refused: those of `refused.toml`, and some that only code can write down."""

import tomllib
from pathlib import Path

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LONG = [
    "(" * 300 + "x" + ")" * 300,
    "-" * 400 + "x",
    "x" + ".t()" * 100,
    "x" + "[0]" * 160,
    "x" + " " * 499 + "+x",
    "x + " + "9" * 495,
    "+".join(["x"] * 150),
    "\n".join(f"y{n} = x + x" for n in range(30)),
]
ATTACKS = TABLES.pop("gradients")  # on programs about gradients
ESCAPES = [*TABLES.pop("escapes"), *LONG]
REFUSED = [*ESCAPES, *(text for table in TABLES.values() for text in table)]
