"""Which parts of a block a model has."""

from core.budget.catalogue import MODELS
from core.budget.saved_tensors import saved_tensors


def test_parts_are_those_of_the_architecture():
    assert list(saved_tensors(MODELS["gpt2"], "fused")) == ["norms", "attention", "feed-forward"]
    assert list(saved_tensors(MODELS["mixtral-8x7b"], "fused")) == ["norms", "attention", "experts"]
    deepseek = saved_tensors(MODELS["deepseek-v3"], "fused")
    assert list(deepseek) == ["norms", "attention", "feed-forward", "experts"]


def test_gemmas_norms_after_a_part_keep_their_input_a_second_time():
    rows = saved_tensors(MODELS["gemma-2-9b"], "fused")["norms"]
    assert len(rows) == 2 * len(saved_tensors(MODELS["llama-2-7b"], "fused")["norms"])


def test_only_the_profile_with_dropout_keeps_masks():
    for profile, expected in (("megatron", True), ("fused", False), ("cpu", False)):
        rows = saved_tensors(MODELS["gpt2"], profile)["attention"]
        assert any(row.op == "dropout" for row in rows) is expected, profile
