"""Serving as a job: spread, sized, in every format."""

from dataclasses import replace

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.fits.jobs import (
    TRAINING_WAYS,
    Training,
    training_ways,
)
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.memory import training_budget
from tests.core.budget.refusals import refused


def test_a_training_job_is_spread_and_sized():
    job = Training(TrainingRecipe(seq_len=128))
    spec = MODELS["gpt2"]
    one, four = job.need(spec), job.on(4).need(spec)

    assert four.amount < one.amount
    assert job.sized("sequences", 8).need(spec).amount > one.amount
    assert job.sized("tokens", 10**6).need(spec) == job.sized("tokens", 1024).need(spec)
    refused("num_devices is 0; it must lie", job.on(0).need, spec)


def test_a_need_is_the_budget_on_every_device():
    recipe = TrainingRecipe(seq_len=512, checkpointing="full")
    for key in ("gpt2", "llama-2-7b", "mixtral-8x7b"):
        for number in (1, 8):
            need = Training(recipe, number).need(MODELS[key])
            for device in ("t4", "h100-sxm", "mi300x"):
                zero = 3 if number > 1 else 0
                cluster = Cluster(device=DEVICES[device], num_devices=number, zero_stage=zero)
                budget = training_budget(MODELS[key], recipe, cluster)
                assert budget.item == need, (key, number, device)


def test_the_ways_keep_lengths_and_checkpointing_and_differ_in_bytes():
    recipe = TrainingRecipe(batch_size=2, seq_len=256, checkpointing="full", lora=LoRA(rank=4))
    ways = training_ways(recipe)

    assert list(ways) == list(TRAINING_WAYS)
    for way, job in ways.items():
        kept = replace(job.recipe, precision=recipe.precision, optimizer="adamw", lora=recipe.lora)
        assert kept == recipe, way
    needs = {way: job.need(MODELS["llama-2-7b"]).amount for way, job in ways.items()}
    assert needs["fp32"] > needs["adam8bit"] > needs["bf16"] > needs["lora"] > needs["qlora"]
    assert ways["qlora"].recipe.lora.rank == 4
