"""Tokens in files: raw bytes, .npy and memmap; and checkpoints that torch.load refuses."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from core.budget import Formula, Item
from core.budget.item import item
from core.train.text.tokenizers import Tokens

DTYPES: Final = ("uint16", "int32", "int64")
# Touvron et al. 2023, LLaMA, table 1 and section 2.1: 1.4 trillion tokens, 32,000 different ones.
LLAMA_TOKENS: Final = 1_400_000_000_000
_BYTES: Final = Formula("num_tokens * bytes_per_token")


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenFiles:
    """The same tokens written by `tofile` and by `np.save`; whether np.memmap and np.load agree.

    `error` is what np.load says of the first, although its name ends in .npy.
    """

    raw_bytes: int
    npy_bytes: int
    error: str
    has_same_tokens: bool


def write_token_files(tokens: Tokens, dtype: str) -> TokenFiles:
    """Write tokens with `tofile` and with `np.save`, and read both back."""
    array = tokens.astype(dtype)
    with tempfile.TemporaryDirectory() as folder:
        raw, npy = Path(folder) / "raw.npy", Path(folder) / "saved.npy"
        array.tofile(raw)
        np.save(npy, array)
        error = ""
        try:
            np.load(raw)
        except ValueError as refused:
            error = str(refused)
        mapped = np.memmap(raw, dtype=dtype, mode="r")
        same = np.array_equal(mapped, np.load(npy))
        mapped._mmap.close()  # type: ignore[attr-defined]
        sizes = raw.stat().st_size, npy.stat().st_size
    return TokenFiles(raw_bytes=sizes[0], npy_bytes=sizes[1], error=error, has_same_tokens=same)


def bytes_of_tokens(num_tokens: int, dtype: str) -> Item:
    """Return how many bytes so many ids take in a file."""
    return item(
        dtype,
        _BYTES,
        {"num_tokens": num_tokens, "bytes_per_token": np.dtype(dtype).itemsize},
        unit="bytes",
        source="numpy",
        kind="exact",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A checkpoint as Python wrote it, and why torch.load refuses it; "" where it was read."""

    written: str
    error: str


class _Runs:
    """Pickles as a call of `print`: whoever unpickles it without care runs what stands there."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("this would have run",)


def load_checkpoints() -> tuple[Loaded, ...]:
    """Save checkpoints and load each with weights_only=True, torch's default since 2.6."""
    import torch

    weights = torch.nn.Linear(2, 2).state_dict()
    things = {
        '{"model": model.state_dict(), "step": 7}': {"model": weights, "step": 7},
        '{"best_loss": np.float64(0.5)}': {"best_loss": np.float64(0.5)},
        '{"best_loss": float(best_loss)}': {"best_loss": 0.5},
        "model": torch.nn.Linear(2, 2),
        "an object whose pickle calls print(...)": _Runs(),
    }
    return tuple(Loaded(written=name, error=_refusal(thing)) for name, thing in things.items())


def _refusal(thing: object) -> str:
    import io
    import pickle

    import torch

    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    try:
        torch.load(file, weights_only=True)
    except pickle.UnpicklingError as error:
        lines = str(error).splitlines()
        found = next((line.strip() for line in lines if "Unsupported" in line), lines[0])
        return found.partition(" Please use")[0]  # what comes after is how to allow it
    return ""
