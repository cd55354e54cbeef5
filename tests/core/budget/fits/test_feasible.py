"""The recipes that fit on the devices at hand."""

from dataclasses import replace

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.fits.feasible import CHECKPOINTED, feasible
from core.budget.fits.jobs import TRAINING_WAYS, training_ways
from core.budget.recipe import TrainingRecipe


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
