"""The edge between what fits and what does not, and the recipes that fit."""

from dataclasses import replace

import pytest

from core.budget.catalogue import MODELS
from core.budget.devices import DEVICES
from core.budget.feasible import CHECKPOINTED, feasible
from core.budget.jobs import Serving
from core.budget.reach import by_length, edges, lengths
from core.budget.recipe import TrainingRecipe
from core.budget.serving_plan import ServingPlan
from core.budget.training_jobs import TRAINING_WAYS, Training, training_ways

JOB = Serving(ServingPlan())


def test_a_point_on_the_edge_fits_and_one_sequence_more_does_not():
    spec, device = MODELS["llama-3.1-8b"], DEVICES["rtx-4090"]
    for edge in edges(spec, JOB, device, (1, 2)):
        spread = JOB.on(edge.num_devices)
        for tokens, most in by_length(edge).items():
            job = spread.sized("tokens", tokens)
            here, beyond = (job.sized("sequences", n).need(spec).amount for n in (most, most + 1))
            assert here <= device.memory_usable < beyond, (edge.num_devices, tokens)


def test_longer_sequences_are_never_more():
    (edge,) = edges(MODELS["llama-2-7b"], JOB, DEVICES["h100-sxm"], (1,))

    assert list(edge.sequences) == sorted(edge.sequences, reverse=True)
    assert edge.tokens[-1] == 4096


def test_numbers_of_devices_that_cannot_share_the_model_have_no_edge():
    found = edges(MODELS["gpt2-xl"], JOB, DEVICES["t4"], (1, 2, 4))  # 25 heads

    assert [edge.num_devices for edge in found] == [1]


def test_lengths_end_at_the_models_own_context():
    for key, spec in MODELS.items():
        assert lengths(spec)[-1] == spec.seq_len, key


def test_feasible_recipes_fit_and_the_fastest_is_first():
    """The question: 8 x 24 GB, a 13B model, sequences of 4096 tokens."""
    spec, device = MODELS["llama-2-13b"], DEVICES["rtx-4090"]
    found = feasible(spec, TrainingRecipe(seq_len=4096), device, 8)

    speeds = [each.speed.amount for each in found]
    assert speeds == sorted(speeds, reverse=True)
    assert speeds[-1] > 0
    assert {each.checkpointing for each in found} == {"full"}
    assert "mixed" not in {each.way for each in found}
    assert {"adam8bit", "lora", "qlora"} <= {each.way for each in found}
    for each in found:
        assert each.need.amount <= device.memory_usable, each.way


def test_what_is_not_feasible_does_not_fit():
    spec, device = MODELS["llama-2-7b"], DEVICES["a100-40gb"]
    found = {(each.way, each.checkpointing) for each in feasible(spec, TrainingRecipe(), device, 2)}
    for checkpointing in CHECKPOINTED:
        ways = training_ways(TrainingRecipe(checkpointing=checkpointing))
        for way in TRAINING_WAYS:
            fits = ways[way].on(2).need(spec).amount <= device.memory_usable
            assert fits == ((way, checkpointing) in found), (way, checkpointing)


def test_a_device_without_the_peak_offers_no_speed():
    integers = replace(DEVICES["t4"], peak={"int8": 130e12})

    assert feasible(MODELS["gpt2"], TrainingRecipe(seq_len=512), integers, 1) == ()


def test_a_training_job_is_spread_and_sized():
    job = Training(TrainingRecipe(seq_len=128))
    spec = MODELS["gpt2"]
    one, four = job.need(spec), job.on(4).need(spec)

    assert four.amount < one.amount
    assert job.sized("sequences", 8).need(spec).amount > one.amount
    assert job.sized("tokens", 10**6).need(spec) == job.sized("tokens", 1024).need(spec)
    with pytest.raises(ValueError, match="num_devices is 0; it must lie"):
        job.on(0).need(spec)
