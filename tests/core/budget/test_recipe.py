"""Ways to train and to serve: what is refused, and in which words."""

import pytest

from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.serving_plan import ServingPlan


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"batch_size": 0}, "batch_size is 0; it must lie between 1 and 1,000,000"),
        ({"seq_len": -4}, "seq_len is -4"),
        ({"accumulation": 0}, "accumulation is 0"),
        ({"checkpoint_every": 0}, "checkpoint_every is 0"),
        ({"loss_chunks": 0}, "loss_chunks is 0"),
        ({"step_kind": "quick"}, "step_kind is 'quick'; use one of: for_loop, foreach, fused"),
        ({"checkpointing": "some"}, "checkpointing is 'some'; use one of: none, selective"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        TrainingRecipe(**changes)


def test_tokens_of_a_forward_pass_are_batch_times_length():
    assert TrainingRecipe(batch_size=3, seq_len=2048).num_tokens == 6144


def test_adapters_name_matrices_that_exist():
    with pytest.raises(ValueError, match="target is 'q_proj'; use one of: q, k, v, o, gate"):
        LoRA(targets=("q_proj",))
    with pytest.raises(ValueError, match="target is ''"):
        LoRA(targets=())
    with pytest.raises(ValueError, match="rank is 0"):
        LoRA(rank=0)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"prompt_len": 0}, "prompt_len is 0"),
        ({"output_len": -1}, "output_len is -1"),
        ({"concurrency": 0}, "concurrency is 0"),
        ({"tensor": 0}, "tensor is 0"),
        ({"mfu": 0.0}, "mfu is 0.0; it must lie between 0.001 and 1"),
        ({"mbu": 2.0}, "mbu is 2.0"),
    ],
)
def test_a_serving_plan_that_cannot_be_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        ServingPlan(**changes)


def test_the_context_is_prompt_and_answer():
    assert ServingPlan(prompt_len=1000, output_len=24).context == 1024
