"""Bytes of GGUF blocks: any bytes read as transformers reads them, and written back the same."""

import numpy as np
import pytest

from core.dtypes.blocks.gguf_formats import GGUF_FORMATS
from tests.core.dtypes.blocks.gguf_bytes import pack, unpack

NUMBERS = {"Q8_0": 8, "Q4_0": 2, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14}
"""ggml's numbers of the types."""


def theirs(name, stored):
    torch = pytest.importorskip("torch")
    dequant = pytest.importorskip("transformers.integrations.gguf.dequant")
    flat = torch.from_numpy(stored.reshape(-1).copy())
    return dequant.dequantize(flat, NUMBERS[name], torch.float32).numpy().reshape(-1)


def random_blocks(name, num_blocks=64):
    """Return bytes of any kind but for d and dmin, which are finite numbers."""
    fmt, rng = GGUF_FORMATS[name], np.random.default_rng(7)
    stored = rng.integers(0, 256, (num_blocks, fmt.stored_bytes), dtype=np.uint8)
    halves = rng.normal(size=(num_blocks, 2)).astype("<f2").view(np.uint8)
    if name == "Q6_K":
        stored[:, -2:] = halves[:, :2]
    elif name in {"Q4_K", "Q5_K"}:
        stored[:, :4] = halves
    else:
        stored[:, :2] = halves[:, :2]
    return stored


@pytest.mark.slow
@pytest.mark.parametrize("name", GGUF_FORMATS)
def test_any_bytes_mean_what_transformers_reads_in_them(name):
    stored = random_blocks(name)
    fmt = GGUF_FORMATS[name]
    ours = fmt.dequantize(fmt.quantized(unpack(name, stored), (64 * fmt.stored_size,)))
    np.testing.assert_array_equal(ours.astype(np.float32), theirs(name, stored))


@pytest.mark.parametrize("name", GGUF_FORMATS)
def test_bytes_come_back_as_they_were(name):
    stored = random_blocks(name)
    np.testing.assert_array_equal(pack(name, unpack(name, stored)), stored)
