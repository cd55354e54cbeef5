"""A measured speed becomes the share of the bandwidth that explains it."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.serving_calibration import calibrated
from core.budget.serving.serving_plan import ServingPlan
from core.budget.serving.serving_time import decode_latency

A100 = Cluster(device=DEVICES["a100-80gb"])
SPEC = MODELS["llama-2-7b"]


def test_a_calibrated_plan_gives_the_measured_speed_back():
    for speed in (3, 50, 104.9):
        plan = calibrated(SPEC, ServingPlan(concurrency=9), A100, speed)

        alone = ServingPlan(mbu=plan.mbu)
        assert 1 / decode_latency(SPEC, alone, A100).amount == pytest.approx(speed)
        assert plan.concurrency == 9


def test_a_speed_that_no_memory_gives_is_refused_in_a_sentence():
    for speed in (140, 2000, 1e8):
        with pytest.raises(ValueError, match=r"tokens/s cannot be: A100.* needs at least 8\.30 ms"):
            calibrated(SPEC, ServingPlan(), A100, speed)
    with pytest.raises(ValueError, match=r"tokens_per_second is 0; it must lie between 0\.001"):
        calibrated(SPEC, ServingPlan(), A100, 0)
    with pytest.raises(
        ValueError, match=r"^0.01 tokens/s is not a thousandth of what A100.*8\.30 ms a token"
    ):
        calibrated(SPEC, ServingPlan(), A100, 0.01)
