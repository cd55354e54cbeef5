"""MFU conventions against torchtitan's own figures."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.compute.mfu import mfu_conventions
from core.budget.recipe import TrainingRecipe

RECIPE = TrainingRecipe(batch_size=2, seq_len=8192, checkpointing="selective", accumulation=3)
SPEC = MODELS["llama-3.1-8b"]


def shares(tokens_per_second, peak=989e12, recipe=RECIPE):
    found = mfu_conventions(SPEC, recipe, tokens_per_second, peak)
    return {item.name: item.amount for item in found}


def test_torchtitan_s_33_and_39_percent_are_full_attention():
    # torchtitan, docs/performance: Llama 3.1 8B on 8 H100, 5,762 and, compiled, 6,667 tokens/s.
    for speed, full, causal in ((5762, 0.337, 0.300), (6667, 0.390, 0.347)):
        got = shares(speed)
        assert got["full attention"] == pytest.approx(full, abs=5e-4)
        assert got["causal attention"] == pytest.approx(causal, abs=5e-4)


def test_the_sparse_peak_halves_it_and_the_hardware_count_is_the_higher_one():
    got = shares(5762)
    assert got["sparse peak"] == got["full attention"] / 2
    assert got["hardware (HFU), causal"] > got["causal attention"]


def test_accumulation_changes_nothing():
    one = TrainingRecipe(batch_size=2, seq_len=8192, checkpointing="selective")
    assert shares(5762, recipe=one) == shares(5762)


def test_no_tokens_are_no_utilisation_and_negative_ones_are_refused():
    assert set(shares(0).values()) == {0}
    with pytest.raises(ValueError, match="tokens_per_second is -1; it must lie between 0 and"):
        shares(-1)


def test_a_device_without_sparse_rates_has_no_sparse_mistake():
    found = mfu_conventions(SPEC, RECIPE, 5762, 65e12, sparsity=False)
    assert "sparse peak" not in {item.name for item in found}
    sold_sparse = {key for key, device in DEVICES.items() if device.has_sparse_peak("bfloat16")}
    assert {"h100-sxm", "a10", "mi300x"} <= sold_sparse
    assert sold_sparse.isdisjoint({"t4", "v100-32gb", "mi250x", "tpu-v5e", "m2-max"})
    assert not any(device.has_sparse_peak("float32") for device in DEVICES.values())
