"""A budget on one device against the simulation, and the reader's own measurement."""

import pytest

from core.budget.comparison.one_device import calibrate, on_one_device
from core.budget.item import Formula, item
from core.budget.recipe import TrainingRecipe
from core.budget.simulation.step import simulate_step
from tests.core.budget.named import named_scenario
from tests.core.budget.refusals import refused


@pytest.mark.slow
def test_the_layout_plays_no_part_and_the_peak_is_what_the_simulation_finds():
    recipe = TrainingRecipe(seq_len=1024, batch_size=2)
    spread = {"num_devices": 8, "zero_stage": 3, "tensor": 2}
    alone = on_one_device(named_scenario("gpt2", "t4", recipe))
    assert on_one_device(named_scenario("gpt2", "t4", recipe, spread)).peak == alone.peak
    simulated = simulate_step(named_scenario("gpt2", "t4").spec, recipe).peak
    assert alone.peak.amount == pytest.approx(simulated, rel=0.01)


def test_what_cannot_be_trained_is_a_sentence():
    with pytest.raises(ValueError, match="seq_len is 4096; it must lie between 1 and 1,024"):
        on_one_device(named_scenario("gpt2", "t4", TrainingRecipe(seq_len=4096)))


PEAK = item(
    "peak",
    Formula("2 * num_params"),
    {"num_params": 500},
    unit="bytes",
    kind="exact",
    source="here",
)


def test_an_estimate_takes_the_ratio_of_the_readers_measurement_and_says_so():
    calibrated = calibrate(PEAK, measured=1234)
    assert calibrated.amount == pytest.approx(1234)
    assert (calibrated.kind, calibrated.name) == ("measured", "peak")
    assert calibrated.substituted == "1,000 * 1,234 / 1,000"
    assert "measurement" in calibrated.source


def test_a_measurement_of_something_else_is_refused():
    refused("measured is 5; it must lie between", calibrate, PEAK, measured=5)
