"""The matrix against one budget a cell, and the first failing item against adding up."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES, custom_device
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.fits.jobs import SERVING_FORMATS, serving_ways
from core.budget.fits.matrix import first_failing, lines, matrix, row
from core.budget.item import Item, total
from core.budget.serving.memory import inference_budget
from core.budget.serving.plan import ServingPlan

PLAN = ServingPlan(prompt_len=768, output_len=256, concurrency=4)


def bytes_of(name, amount, band=0.0):
    low, high = amount * (1 - band), amount * (1 + band)
    return Item(
        name=name,
        amount=amount,
        unit="bytes",
        low=low,
        high=high,
        kind="estimated" if band else "exact",
        source="test",
    )


def test_every_cell_says_what_a_budget_of_its_own_says():
    cells = matrix(MODELS, serving_ways(PLAN), DEVICES)
    assert len(cells) == len(MODELS) * 6 * len(DEVICES) >= 3420
    for (model, way, device), cell in list(cells.items())[::37]:
        plan = replace(PLAN, weight_format=SERVING_FORMATS[way])
        budget = inference_budget(MODELS[model], plan, Cluster(device=DEVICES[device]))
        assert cell.need == budget.item, (model, way, device)
        assert cell.capacity == budget.capacity, (model, way, device)
        assert (cell.reason == "") == budget.fits, (model, way, device)
        assert cell.verdict == budget.verdict, (model, way, device)


def test_the_first_failing_item_is_where_adding_up_leaves_the_memory():
    parts = [bytes_of("weights", 50), bytes_of("KV cache", 30), bytes_of("workspace", 20)]
    need = total("job", parts, source="test")
    expected = ((49, "weights"), (50, "KV cache"), (79, "KV cache"), (80, "workspace"))
    for capacity, name in expected:
        assert first_failing(need, capacity).name == name, capacity
    assert first_failing(need, 100) is None


def test_of_the_moments_of_a_step_only_the_largest_fills_the_memory():
    forward = total("forward", [bytes_of("activations", 40), bytes_of("logits", 5)], source="test")
    step = total("step", [bytes_of("gradients", 10)], source="test")
    peak = total("peak", [forward, step], source="test", combine="max")
    need = total("job", [bytes_of("weights", 50), peak, bytes_of("overhead", 1)], source="test")

    assert [part.name for part in lines(need)] == ["weights", "activations", "logits", "overhead"]
    assert sum(part.amount for part in lines(need)) == need.amount


class Cannot:
    """A job that no model can be split for."""

    def need(self, _spec):
        raise ValueError("3 tensor-parallel ranks cannot share this")


class Uncertain:
    """A job of 100 bytes, give or take 10 %."""

    def need(self, _spec):
        return total("job", [bytes_of("weights", 100, band=0.1)], source="test")


def test_a_job_that_cannot_be_split_says_why_in_every_cell():
    cells = row(MODELS["gpt2"], Cannot(), DEVICES.values())
    assert len(cells) == len(DEVICES)
    assert {cell.sentence for cell in cells} == {"3 tensor-parallel ranks cannot share this"}
    assert {(cell.verdict, cell.need) for cell in cells} == {("too_big", None)}


def test_within_the_band_it_is_close():
    expected = ((111, "fits", ""), (105, "close", ""), (95, "close", "weights"))
    for memory, verdict, reason in (*expected, (89, "too_big", "weights")):
        device = custom_device(memory=memory, flops_per_second=1, bandwidth=1)
        (cell,) = row(MODELS["gpt2"], Uncertain(), [device])
        assert (cell.verdict, cell.reason) == (verdict, reason), memory


@pytest.mark.parametrize(
    ("model", "way", "device", "reason"),
    [
        ("llama-2-13b", "bf16", "a100-40gb", ""),  # corrections, E11: no 80 GB needed
        ("llama-2-13b", "int8", "rtx-4090", ""),  # corrections, E13: not only 7B
        ("qwen2.5-32b", "int4", "rtx-4090", ""),
        ("llama-2-13b", "bf16", "rtx-4090", "weights"),
        ("llama-2-70b", "bf16", "a100-80gb", "weights"),
    ],
)
def test_the_corrected_sentences_of_the_notes(model, way, device, reason):
    plan = ServingPlan(prompt_len=512, output_len=128)
    (cell,) = row(MODELS[model], serving_ways(plan)[way], [DEVICES[device]])
    assert cell.reason == reason
