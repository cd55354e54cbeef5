"""The closed form of kept activations against a block that really ran, as its capture tells it."""

import pytest

from core.autograd.built_graphs import BUILT_GRAPHS, GPT2_BLOCK, capture_built
from core.budget.recipe import TrainingRecipe
from core.budget.share import whole
from core.budget.training.activations import activation_sizes, layer_activations

# The manual attention multiplies the scores by a Python number, which torch wraps in a float64
# scalar and saves; the closed form leaves it out. The closing sum() saves only lengths, and the
# dropout after both sublayers is in both.
WRAPPED_SCALE = 8


def storages(found, *kinds):
    """Return storage -> its bytes, each storage once."""
    saved = (each for node in found.nodes for each in node.saved)
    return {each.storage: each.storage_bytes for each in saved if each.kind in kinds}


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [1, 8, 32])
@pytest.mark.parametrize(
    ("key", "profile", "more"), [("block_full", "megatron", WRAPPED_SCALE), ("block", "cpu", 0)]
)
def test_a_captured_gpt2_block_keeps_what_the_closed_form_of_one_layer_says(
    key, profile, more, tokens
):
    found = capture_built(BUILT_GRAPHS[key], tokens)
    recipe = TrainingRecipe(batch_size=1, seq_len=tokens, precision="fp32", profile=profile)
    lines = layer_activations(
        GPT2_BLOCK, recipe, activation_sizes(GPT2_BLOCK, recipe, whole(GPT2_BLOCK))
    )
    expected = sum(line.amount for line in lines)
    # A model's block keeps the output of the block before it; here that is the input of all.
    block_input = 4 * tokens * GPT2_BLOCK.hidden_dim
    assert sum(storages(found, "input").values()) == block_input
    assert sum(storages(found, "activation").values()) == expected - block_input + more
    peak = max(event.saved_bytes for event in found.events)
    assert peak == expected - block_input + more, "the timeline counts the same"


def test_only_the_wrapped_scale_is_float64_in_a_captured_block():
    found = capture_built(BUILT_GRAPHS["block_full"], 1)
    saved = [each for node in found.nodes for each in node.saved]
    wide = {each.storage: each for each in saved if each.tensor.dtype == "float64"}
    assert [each.storage_bytes for each in wide.values()] == [WRAPPED_SCALE]
    assert all(each.kind == "activation" for each in wide.values())
