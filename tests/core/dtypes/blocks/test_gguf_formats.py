"""GGUF types: bits, bounds of the error, and never worse than plain rounding."""

import numpy as np
import pytest

from core.budget.weights.gguf import GGUF_BLOCKS
from core.dtypes.blocks.gguf_formats import GGUF_FORMATS
from tests.core.budget.refusals import refused

RNG = np.random.default_rng(11)
TENSORS = {
    "normal": RNG.normal(size=(8, 512)),
    "heavy": RNG.standard_t(3, size=(8, 512)),
    "positive": RNG.exponential(size=(8, 512)),
    "small": 2e-2 * RNG.normal(size=(8, 512)),
}
TENSORS = {name: x.astype(np.float32).astype(np.float64) for name, x in TENSORS.items()}


@pytest.mark.parametrize("name", GGUF_FORMATS)
def test_bits_are_those_of_the_stored_block(name):
    fmt, block = GGUF_FORMATS[name], GGUF_BLOCKS[name]
    assert (fmt.stored_size, fmt.stored_bytes) == tuple(block)
    assert fmt.bits_per_value == block.bits_per_value
    assert fmt.element.bits + fmt.block_bits / fmt.block_size == fmt.bits_per_value


def weighted_error(x, restored):
    """Return the squared error of each sub-block of 32, weighted as the search weighs it."""
    blocks, lost = x.reshape(-1, 32), (restored - x).reshape(-1, 32)
    weights = np.sqrt((blocks**2).mean(axis=1, keepdims=True)) + np.abs(blocks)
    return (weights * lost**2).sum()


@pytest.mark.parametrize(("name", "top"), [("Q4_K", 15), ("Q5_K", 31)])
def test_the_search_beats_a_grid_from_lowest_to_highest(name, top):
    """Even though its scales have six bits, those of the grid float64."""
    for kind, x in TENSORS.items():
        blocks = x.reshape(-1, 32)
        lowest = np.minimum(blocks.min(axis=1, keepdims=True), 0)
        step = (blocks.max(axis=1, keepdims=True) - lowest) / top
        plain = (np.rint((blocks - lowest) / step) * step + lowest).reshape(x.shape)
        ours = GGUF_FORMATS[name].round(x)
        assert weighted_error(x, ours) < 1.02 * weighted_error(x, plain), kind


@pytest.mark.parametrize("name", GGUF_FORMATS)
def test_codes_are_the_nearest_for_the_stored_scales(name):
    """No other code would bring a value nearer; Q8_0 and Q4_0 know their scale before float16."""
    fmt = GGUF_FORMATS[name]
    for kind, x in TENSORS.items():
        kept = fmt.quantize(x)
        steps, minima = kept.per_value(kept.scales), kept.per_value(kept.minima)
        error = np.abs(fmt.dequantize(kept) - x)
        numbers = fmt.element.decode(np.arange(fmt.element.num_codes, dtype=np.uint8)) - fmt.zero
        nearest = np.min([np.abs(steps * number - minima - x) for number in numbers], axis=0)
        assert (error <= nearest + 2.0**-10 * np.abs(x) + 2.0**-20).all(), kind


@pytest.mark.parametrize("name", GGUF_FORMATS)
def test_zeros_stay_zeros_and_a_nan_takes_its_block_alone(name):
    fmt = GGUF_FORMATS[name]
    x = np.zeros((2, 512))
    assert (fmt.round(x) == 0).all()
    x[0, 300] = np.nan
    lost = np.isnan(fmt.round(x))
    assert lost.sum() == fmt.stored_size
    assert lost[0, 300]


def test_another_rule_or_format_is_refused():
    fmt = GGUF_FORMATS["Q4_K"]
    refused("rule floor is not one of Q4_K: use amax", fmt.quantize, [1.0], "floor")
    refused("cannot be read as Q4_K", fmt.dequantize, GGUF_FORMATS["Q8_0"].quantize([1.0]))
