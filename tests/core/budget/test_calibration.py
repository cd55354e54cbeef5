import pytest

from core.budget.calibration import Calibration, calibrate
from core.budget.formula import Formula
from core.budget.item import item

PEAK = item("peak", Formula("2 * num_params"), {"num_params": 500}, unit="bytes", source="here")


def test_an_estimate_takes_the_ratio_of_the_readers_measurement_and_says_so():
    calibrated = calibrate(PEAK, measured=1100, estimate_then=2000)
    assert calibrated.amount == pytest.approx(550)
    assert (calibrated.kind, calibrated.name) == ("measured", "peak")
    assert calibrated.substituted == "1,000 * 1,100 / 2,000"
    assert "measurement" in calibrated.source


def test_without_another_setting_the_measurement_itself_comes_back():
    assert calibrate(PEAK, measured=1234).amount == 1234


def test_a_measurement_of_something_else_is_refused():
    with pytest.raises(ValueError, match="measured is 5; it must lie between"):
        calibrate(PEAK, measured=5)
    with pytest.raises(ValueError, match="estimate is 0; it must lie between"):
        Calibration(measured=1, estimate=0)
