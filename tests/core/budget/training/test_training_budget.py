"""A training budget: its tree, its stages, what it refuses."""

import math

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.parameters import counts
from core.budget.cluster import Cluster
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.training_budget import allocated, training_budget

H100 = DEVICES["h100-sxm"]
LLAMA = MODELS["llama-2-7b"]


def test_every_item_is_the_sum_or_the_maximum_of_its_children_and_lies_in_its_band():
    for key, spec in MODELS.items():
        item = training_budget(spec, TrainingRecipe(seq_len=1024), Cluster(device=H100)).item
        for each in item.walk():
            assert each.low <= each.amount <= each.high, (key, each.name)
            assert each.amount >= 0, (key, each.name)
            if each.children:
                fold = sum if each.combine == "sum" else max
                assert each.amount == fold(part.amount for part in each.children), each.name
            assert each.formula
            assert each.source, each.name


def test_what_is_substituted_gives_the_number_again():
    cluster = Cluster(device=H100, num_devices=32, tensor=4, pipeline=2, zero_stage=2)
    recipe = TrainingRecipe(checkpointing="every_k", checkpoint_every=3, accumulation=8)
    for each in training_budget(MODELS["mixtral-8x7b"], recipe, cluster).item.walk():
        if each.rule is not None:
            names = {"ceil": math.ceil, "max": max, "min": min}
            text = each.rule.text
            assert eval(text, names, dict(each.values)) == each.amount, each.name  # noqa: S307


def test_the_first_stage_of_a_pipeline_holds_the_most_activations():
    cluster = Cluster(device=H100, num_devices=4, pipeline=4)
    budget = training_budget(LLAMA, TrainingRecipe(accumulation=8), cluster)
    kept = [
        stage.child("step peak").child("end of forward").child("activations").amount
        for stage in budget.stages
    ]
    assert kept == sorted(kept, reverse=True)
    assert budget.item.amount == budget.largest.amount
    assert [stage.name for stage in budget.stages] == ["stage 0", "stage 1", "stage 2", "stage 3"]


def test_no_rank_holds_more_tensors_than_the_whole_model():
    recipe = TrainingRecipe(seq_len=2048)
    whole = allocated(training_budget(LLAMA, recipe, Cluster(device=H100)).item)
    for changes in (
        {"tensor": 8},
        {"zero_stage": 1},
        {"zero_stage": 3},
        {"tensor": 2, "pipeline": 2, "zero_stage": 2, "sequence_parallel": True},
    ):
        budget = training_budget(LLAMA, recipe, Cluster(device=H100, num_devices=8, **changes))
        assert all(allocated(stage) < whole for stage in budget.stages), changes


def test_sharding_everything_leaves_the_share_and_the_gathered_layers():
    recipe = TrainingRecipe(seq_len=128, step_kind="fused", precision="fsdp2")
    cluster = Cluster(device=H100, num_devices=64, zero_stage=3)
    item = training_budget(LLAMA, recipe, cluster).item
    num_params = counts(LLAMA).total
    assert item.child("weights").amount == 4 * math.ceil(num_params / 64)
    assert item.child("optimizer").amount == 8 * math.ceil(num_params / 64)
    gathered = item.child("step peak").child("end of forward").child("gathered weights")
    assert 0 < gathered.amount < 2 * num_params


def test_40_billion_parameters_of_16_bytes_fill_eight_devices_of_80_gb():
    # CS336, lecture 2: 8 x 80e9 / 16, and / 12 in 2026
    for precision, expected in (("mixed_bf16", 40.0e9), ("cs336_12", 53.3e9)):
        recipe = TrainingRecipe(precision=precision)
        item = training_budget(LLAMA, recipe, Cluster(device=H100)).item
        states = item.child("weights").amount + item.child("optimizer").amount
        gradients = item.child("step peak").child("optimizer step").child("gradients").amount
        each = (states + gradients) / counts(LLAMA).total
        assert 8 * 80e9 / each == pytest.approx(expected, rel=1e-3), precision


def test_the_reserve_lies_between_nothing_and_15_percent():
    item = training_budget(LLAMA, TrainingRecipe(), Cluster(device=H100)).item
    reserve = item.child("allocator reserve")
    assert reserve.low == 0
    assert reserve.high == pytest.approx(0.15 * allocated(item), rel=1e-6)


@pytest.mark.parametrize(
    ("spec", "changes", "sentence"),
    [
        ("llama-2-7b", {"precision": "fp7"}, "precision is 'fp7'; use one of: fp32"),
        ("llama-2-7b", {"optimizer": "lion"}, "optimizer is 'lion'; use one of: sgd"),
        ("llama-2-7b", {"profile": "jax"}, "profile is 'jax'; use one of: hf_eager"),
        ("gpt2", {"seq_len": 2048}, "seq_len is 2048; it must lie between 1 and 1,024"),
        ("llama-2-7b", {"lora": LoRA(base_format="int3")}, "base_format is 'int3'; use one of"),
        (
            "mixtral-8x7b",
            {"lora": LoRA(targets=("gate",))},
            "Mixtral 8x7B has no matrix that LoRA's targets gate name",
        ),
    ],
)
def test_a_recipe_that_does_not_go_with_the_model_is_refused(spec, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        training_budget(MODELS[spec], TrainingRecipe(**changes), Cluster(device=H100))
