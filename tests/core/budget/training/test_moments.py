"""The moment of the peak, and the peak itself against the simulated step."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.simulation.step import simulate_step
from core.budget.training.training_budget import allocated, training_budget
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


@pytest.mark.slow
def test_the_peak_is_that_of_the_simulated_step():
    for key, recipe in CASES:
        mixture = MODELS[key].mixture and replace(MODELS[key].mixture, num_dense_layers=1)
        spec = replace(MODELS[key], num_layers=4, num_windowed_layers=0, mixture=mixture)
        simulated = simulate_step(spec, recipe).peak
        closed = allocated(training_budget(spec, recipe, ONE).item)
        assert closed == pytest.approx(simulated, rel=0.01), (key, recipe)


SCORES = {"optimizer": "sgd", "step_kind": "fused", "precision": "pure_bf16", "profile": "megatron"}
WRITTEN_SCORES = (
    ("llama-2-7b", TrainingRecipe(seq_len=4096, checkpointing="full", **SCORES)),
    ("llama-2-7b", TrainingRecipe(seq_len=4096, checkpointing="selective", **SCORES)),
    ("llama-2-7b", TrainingRecipe(seq_len=4096, checkpointing="full", accumulation=2, **SCORES)),
    ("llama-2-7b", TrainingRecipe(seq_len=1024, checkpointing="full", accumulation=2, **SCORES)),
    ("deepseek-v3", TrainingRecipe(seq_len=4096, checkpointing="full", **SCORES)),
)


@pytest.mark.slow
def test_the_gradient_of_written_scores_is_in_the_peak():
    """Without it the closed form was 2 to 9 % below the simulated step."""
    for key, recipe in WRITTEN_SCORES:
        mixture = MODELS[key].mixture and replace(MODELS[key].mixture, num_dense_layers=1)
        spec = replace(MODELS[key], num_layers=4, mixture=mixture)
        simulated = simulate_step(spec, recipe).peak
        closed = allocated(training_budget(spec, recipe, ONE).item)
        assert closed == pytest.approx(simulated, rel=0.015), (key, recipe)


def test_llama_2_7b_at_4096_tokens_peaks_as_measured_and_at_another_moment_with_checkpointing():
    expected = {"none": (24.36, "end of forward"), "full": (12.96, "end of backward"),
                "selective": (13.98, "end of forward")}  # fmt: skip
    for checkpointing, (gib, moment) in expected.items():
        recipe = TrainingRecipe(checkpointing=checkpointing, seq_len=4096, **PLAIN)
        budget = training_budget(MODELS["llama-2-7b"], recipe, ONE)
        assert peak_moment(budget) == moment
        peak = budget.item.child("step peak").amount / GIB
        assert peak == pytest.approx(gib, rel=0.01), checkpointing


def test_more_pieces_of_a_step_only_add_gradients():
    spec = MODELS["llama-2-7b"]
    once = training_budget(spec, TrainingRecipe(**PLAIN), ONE).item
    twice = training_budget(spec, TrainingRecipe(accumulation=2, **PLAIN), ONE).item
    forward = [each.child("step peak").child("end of forward") for each in (once, twice)]
    assert forward[1].amount - forward[0].amount == 2 * 6_738_415_616
