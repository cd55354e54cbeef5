import pytest

from core.budget.comparison.scenario import named_scenario
from core.budget.fits.one_device import on_one_device
from core.budget.recipe import TrainingRecipe
from core.budget.simulation.step import simulate_step


def test_the_layout_plays_no_part_and_the_peak_is_what_the_simulation_finds():
    recipe = TrainingRecipe(seq_len=1024, batch_size=2)
    spread = {"num_devices": 8, "zero_stage": 3, "tensor": 2}
    alone = on_one_device(named_scenario("gpt2", "t4", recipe))
    assert on_one_device(named_scenario("gpt2", "t4", recipe, spread)).peak == alone.peak
    simulated = simulate_step(named_scenario("gpt2", "t4").spec, recipe).peak
    assert alone.peak.amount == pytest.approx(simulated, rel=0.01)


def test_the_largest_moment_is_the_peak():
    found = on_one_device(named_scenario("llama-2-7b", "h100-sxm"))
    sums = {name: sum(part.amount for part in parts) for name, parts in found.moments}
    assert max(sums, key=lambda name: sums[name]) == found.largest
    assert sums[found.largest] == found.peak.amount


def test_what_cannot_be_trained_is_a_sentence():
    with pytest.raises(ValueError, match="seq_len is 4096; it must lie between 1 and 1,024"):
        on_one_device(named_scenario("gpt2", "t4", TrainingRecipe(seq_len=4096)))
