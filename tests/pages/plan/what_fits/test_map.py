"""Words of the page What fits: verdicts, what would be enough, short names, rulings, a device."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.fits.matrix import Cell, row
from core.budget.fits.solve import Answer, min_devices
from core.budget.recipe import TrainingRecipe
from core.budget.serving.plan import ServingPlan
from pages.plan.what_fits.detail import rows_of
from pages.plan.what_fits.inputs import Case, what
from pages.plan.what_fits.map import (
    device_name,
    devices_of,
    enough,
    models_of,
    others_note,
    verdict,
    way_out,
)
from pages.shared.plan.choices import ChosenDevice, ChosenModel


@pytest.fixture
def case():
    return Case(
        model=ChosenModel(key="llama-2-70b", spec=MODELS["llama-2-70b"], code=""),
        device=ChosenDevice(key="l4", device=DEVICES["l4"], code=""),
        way="bf16",
        how=ServingPlan(prompt_len=3584),
        all_in_picture=True,
    )


def answer(amount, reason=""):
    return Answer(amount=amount, need=None, capacity=1, reason=reason)


def test_the_verdict_names_need_capacity_reason_and_a_way_out(case):
    (cell,) = row(case.model.spec, case.job, [case.device.device])
    fewest = min_devices(case.model.spec, case.job, case.device.device)

    said = verdict(case, cell, fewest)

    assert said.startswith("Serving Llama-2 70B in bf16 on one L4 does not fit: 130 GiB")
    assert said.endswith("first to fail: **weights**. 8 devices are enough.")


def test_what_cannot_be_split_says_why(case):
    cell = Cell(need=None, capacity=1, verdict="too_big", sentence="3 ranks cannot share 32 heads")

    assert verdict(case, cell, answer(0)) == "3 ranks cannot share 32 heads"


def test_within_the_band_it_may_fit(case):
    (cell,) = row(MODELS["gpt2"], case.job, [case.device.device])
    close = Cell(need=cell.need, capacity=cell.capacity, verdict="close")

    assert "may fit" in verdict(case, close, answer(1))


def test_what_fails_only_at_the_middle_of_its_band_may_not_fit(case):
    """Serving Llama-3.1 8B in bf16 on a TPU v5e: its lower end would have room."""
    tight = replace(
        case,
        model=ChosenModel(key="llama-3.1-8b", spec=MODELS["llama-3.1-8b"], code=""),
        device=ChosenDevice(key="tpu-v5e", device=DEVICES["tpu-v5e"], code=""),
    )
    (cell,) = row(tight.model.spec, tight.job, [tight.device.device])

    said = verdict(tight, cell, answer(2))

    assert cell.verdict == "close"
    assert "may not fit: about 15.8 GiB needed, 15.8 GiB usable; first to fail" in said
    assert said.endswith("**workspace**. 2 devices are enough.")


def trained(case, checkpointing):
    recipe = TrainingRecipe(checkpointing=checkpointing)
    return replace(case, way="mixed", how=recipe)


def test_what_no_number_of_devices_mends_has_another_way_out(case):
    assert enough(answer(1)) == "1 device is enough."
    assert enough(answer(0, "weights")) == "No number of devices up to 1,024 is enough."
    assert way_out(case, "weights") == ""
    assert "fewer tokens do" in way_out(case, "KV cache")
    assert "recompute them" in way_out(trained(case, "none"), "activations")


def test_nobody_is_told_to_recompute_what_is_recomputed(case):
    for reason in ("activations", "logits and loss"):
        said = way_out(trained(case, "full"), reason)
        assert "fewer or shorter ones do" in said, reason
        assert "recompute" not in said, reason


def test_tokens_beyond_a_context_are_told_of_the_models_beside_it(case):
    models = models_of(case).values()

    assert replace(case, how=ServingPlan(prompt_len=130_560)).read_tokens == 4096
    assert others_note(models, 131_072, "models_devices") == "every model up to its own context"
    assert others_note(models, 131_072, "ways_devices") == ""
    assert others_note(models, 256, "models_ways") == ""


def test_names_are_short_and_have_the_memory(case):
    names = {key: device_name(device) for key, device in devices_of(case).items()}

    assert names["a100-80gb"] == "A100 SXM, 80 GiB"
    assert names["a100-40gb"] == "A100 SXM, 40 GiB"
    assert names["v100-32gb"] == "V100 SXM2, 32 GiB"
    assert names["mi250x"] == "MI250X, 64 GiB"
    assert names["m2-max"] == "M2 Max, 96 GiB"
    assert len(set(names.values())) == len(names)


def test_models_and_devices_of_the_picture_run_from_small_to_large(case):
    models = list(models_of(case))
    assert (models[0], models[-1]) == ("gpt2", "kimi-k2")
    memory = [device.memory_usable for device in devices_of(case).values()]
    assert memory == sorted(memory)


def test_training_is_spoken_of_as_training(case):
    assert what(case) == "Serving Llama-2 70B in bf16"


def test_the_table_of_a_device_has_every_peak_and_both_memories():
    for device in DEVICES.values():
        names, values = rows_of(device).values()
        assert len(names) == len(values) == len(device.peak) + 6, device.name
    names, values = rows_of(DEVICES["h100-sxm"]).values()
    told = dict(zip(names, values, strict=True))
    assert told["dense bfloat16 peak"] == "989 TFLOP/s"
    assert told["dense int8 peak"] == "1.98 POP/s"
    assert told["link to the other devices, one direction"] == "450 GB/s"
    assert (told["nominal memory"], told["usable memory"]) == (
        "80.0 GiB",
        "78.6 GiB",
    )
