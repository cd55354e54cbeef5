"""The moment of the peak, and the peak itself against the simulated step."""

import math
from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.simulation.step import simulate_step
from core.budget.training.memory import allocated, training_budget
from core.budget.weights.parameters import counts
from core.models.spec import ModelSpec
from core.units import GIB

ONE = Cluster(device=DEVICES["h100-sxm"])
PLAIN = {"optimizer": "sgd", "step_kind": "fused", "precision": "pure_bf16", "profile": "hf_eager"}
CASES = (
    ("llama-2-7b", TrainingRecipe(seq_len=512, **PLAIN)),
    ("llama-2-7b", TrainingRecipe(seq_len=2048, checkpointing="full", **PLAIN)),
    ("llama-3.1-8b", TrainingRecipe(seq_len=1024, checkpointing="selective", **PLAIN)),
    ("gpt2", TrainingRecipe(batch_size=4, seq_len=1024, profile="megatron", precision="fp32")),
    ("gpt2-xl", TrainingRecipe(seq_len=128, precision="mixed_bf16", accumulation=2)),
    ("gemma-2-9b", TrainingRecipe(seq_len=128, precision="nanotron", profile="cpu")),
    ("gemma-2-9b", TrainingRecipe(seq_len=128, precision="megatron", loss_chunks=4)),
    ("qwen3-8b", TrainingRecipe(seq_len=512, precision="autocast_bf16")),
    ("qwen3-30b-a3b", TrainingRecipe(seq_len=256, precision="pure_bf16", optimizer="adam8bit")),
    ("deepseek-v3", TrainingRecipe(seq_len=256, checkpointing="full", optimizer="rmsprop")),
    ("phi-3-mini", TrainingRecipe(seq_len=1024, loss_chunks=4, optimizer="momentum")),
    ("olmo-2-7b", TrainingRecipe(seq_len=512, precision="pure_bf16")),
    ("gpt-oss-20b", TrainingRecipe(seq_len=512, checkpointing="selective", **PLAIN)),
    ("llama-4-maverick", TrainingRecipe(seq_len=512, checkpointing="full", **PLAIN)),
    ("deepseek-v3.2", TrainingRecipe(seq_len=256, checkpointing="full", **PLAIN)),
    ("llama-2-13b", TrainingRecipe(seq_len=1024, precision="pure_bf16", lora=LoRA(rank=8))),
    (
        "llama-2-13b",
        TrainingRecipe(
            seq_len=1024, precision="pure_bf16", lora=LoRA(rank=8, base_format="nf4_double_quant")
        ),
    ),
)  # fmt: skip


def peak_moment(budget):
    moments = budget.item.child("step peak").children
    return max(moments, key=lambda moment: moment.amount).name


SCORES = {"optimizer": "sgd", "step_kind": "fused", "precision": "pure_bf16", "profile": "megatron"}
WRITTEN_SCORES = (
    ("llama-2-7b", TrainingRecipe(seq_len=4096, checkpointing="full", **SCORES)),
    ("llama-2-7b", TrainingRecipe(seq_len=4096, checkpointing="selective", **SCORES)),
    ("llama-2-7b", TrainingRecipe(seq_len=4096, checkpointing="full", accumulation=2, **SCORES)),
    ("llama-2-7b", TrainingRecipe(seq_len=1024, checkpointing="full", accumulation=2, **SCORES)),
    ("deepseek-v3", TrainingRecipe(seq_len=4096, checkpointing="full", **SCORES)),
)


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "error"), [(CASES, 0.01), (WRITTEN_SCORES, 0.015)])
def test_the_peak_is_that_of_the_simulated_step(cases, error):
    """Without the gradient of written scores it was 2 to 9 % below the simulated step."""
    for key, recipe in cases:
        mixture = MODELS[key].mixture and replace(MODELS[key].mixture, num_dense_layers=1)
        spec = replace(MODELS[key], num_layers=4, num_windowed_layers=0, mixture=mixture)
        simulated = simulate_step(spec, recipe).peak
        closed = allocated(training_budget(spec, recipe, ONE).item)
        assert closed == pytest.approx(simulated, rel=error), (key, recipe)


def test_llama_2_7b_at_4096_tokens_peaks_as_measured_and_at_another_moment_with_checkpointing():
    expected = {"none": (24.36, "end of forward"), "full": (12.96, "end of backward"),
                "selective": (13.98, "end of forward")}  # fmt: skip
    for checkpointing, (gib, moment) in expected.items():
        recipe = TrainingRecipe(checkpointing=checkpointing, seq_len=4096, **PLAIN)
        budget = training_budget(MODELS["llama-2-7b"], recipe, ONE)
        assert peak_moment(budget) == moment
        peak = budget.item.child("step peak").amount / GIB
        assert peak == pytest.approx(gib, rel=0.01), checkpointing


AUTOCAST = {"precision": "autocast_bf16", "accumulation": 4, "step_kind": "fused"}


def test_autocast_holds_every_matrix_twice_until_its_context_closes():
    """Our simulation of the whole step says 43.54, 55.77 and 64.48 GB beyond weights and states."""
    expected = {
        "full": (43.54, "before the autocast context closes"),
        "selective": (55.77, "before the autocast context closes"),
        "none": (64.48, "end of forward"),
    }
    for checkpointing, (gigabytes, moment) in expected.items():
        recipe = TrainingRecipe(checkpointing=checkpointing, **AUTOCAST)
        budget = training_budget(MODELS["llama-2-7b"], recipe, ONE)
        assert peak_moment(budget) == moment
        peak = budget.item.child("step peak").amount
        assert peak / 1e9 == pytest.approx(gigabytes, rel=0.01), checkpointing


H100 = DEVICES["h100-sxm"]
LLAMA = MODELS["llama-2-7b"]


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


def test_sharding_everything_leaves_the_share_and_the_gathered_layers():
    recipe = TrainingRecipe(seq_len=128, step_kind="fused", precision="fsdp2")
    cluster = Cluster(device=H100, num_devices=64, zero_stage=3)
    item = training_budget(LLAMA, recipe, cluster).item
    num_params = counts(LLAMA).total
    assert item.child("weights").amount == 4 * math.ceil(num_params / 64)
    assert item.child("optimizer").amount == 8 * math.ceil(num_params / 64)
    gathered = item.child("step peak").child("end of forward").child("gathered weights")
    assert 0 < gathered.amount < 2 * num_params


def test_the_reserve_lies_between_nothing_and_15_percent():
    item = training_budget(LLAMA, TrainingRecipe(), ONE).item
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
        ("mixtral-8x7b", {"lora": LoRA(targets=("gate",))}, "no matrix that LoRA's targets gate"),
    ],
)
def test_a_recipe_that_does_not_go_with_the_model_is_refused(spec, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        training_budget(MODELS[spec], TrainingRecipe(**changes), ONE)


def test_an_interleaved_run_peaks_where_megatron_s_own_test_peaked():
    """Megatron-LM, gpt3_7b_tp1_pp4_memory_speed on H100: 60,720,852,992 bytes at most.

    Its file of golden values; 8 GPUs, so 4 micro-batches, one layer a virtual stage. Kernels and
    the states' dtypes differ a little from ours: a band, not the byte.
    """
    spec = ModelSpec(
        name="gpt3_7b", num_layers=32, hidden_dim=4096, num_heads=32, num_kv_heads=8,
        head_dim=128, ffn_dim=16_384, vocab_size=131_073, seq_len=8192, gated=False,
    )  # fmt: skip
    recipe = TrainingRecipe(seq_len=8192, accumulation=4, step_kind="fused", profile="fused")
    spread = Cluster(
        device=DEVICES["h100-sxm"], num_devices=8, pipeline=4, virtual_stages=8, zero_stage=1
    )
    peaks = [allocated(stage) for stage in training_budget(spec, recipe, spread).stages]
    assert max(peaks) == pytest.approx(60_720_852_992, rel=0.08)
    plain = training_budget(spec, recipe, replace(spread, virtual_stages=1)).stages
    assert max(map(allocated, plain)) < 0.9 * max(peaks)


def test_logits_that_a_training_loop_keeps_lie_inside_the_band():
    """83.9 GiB measured (torchtitan 2024-12, table 2); without the logits it ended at 82.0."""
    recipe = TrainingRecipe(
        seq_len=32_768, precision="fsdp2", checkpointing="full", profile="hf_eager",
        step_kind="fused",
    )  # fmt: skip
    cluster = Cluster(device=DEVICES["h100-sxm"], num_devices=8, zero_stage=3)
    need = training_budget(MODELS["llama-3.1-8b"], recipe, cluster).item
    assert need.low < 83.9 * GIB < need.high
