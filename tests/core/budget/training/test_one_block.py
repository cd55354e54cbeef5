"""A block's closed form beside the block that ran."""

import pytest

from core.autograd.built_graphs import BUILT_GRAPHS, GPT2_BLOCK, capture_built
from core.budget.training.one_block import block_bytes

WRAPPED_SCALE = 8  # torch saves the scale of manual attention as a float64 scalar


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "word", "more"), [("block", "fused", 0), ("block_full", "manual", WRAPPED_SCALE)]
)
def test_what_was_captured_is_what_the_closed_form_says(key, word, more):
    told = block_bytes(GPT2_BLOCK, 16, capture_built(BUILT_GRAPHS[key], 16))
    assert told.measured == getattr(told, word) + more
    assert told.manual > told.fused
