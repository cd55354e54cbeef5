"""The reader's own measurement beside the estimate, and the estimate brought in line with it."""

from dataclasses import dataclass

from core.budget.check import check_range
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.language import N_

CALIBRATED = Formula("estimate * measured / estimate_then")
MAX_RATIO = 100  # beyond this the two do not measure the same thing

_SOURCE = N_("the reader's own measurement, as a ratio to the estimate for the same setting")


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """How far a measurement lay from its estimate.

    Attributes:
        measured: What the reader measured: bytes at the peak, or tokens/s.
        estimate: What the budget said for the very same setting.
    """

    measured: float
    estimate: float

    def __post_init__(self) -> None:
        check_range("estimate", self.estimate, 1e-9, 1e18)
        check_range("measured", self.measured, self.estimate / MAX_RATIO, self.estimate * MAX_RATIO)

    @property
    def ratio(self) -> float:
        """Measured / estimate."""
        return self.measured / self.estimate


def calibrate(estimate: Item, measured: float, estimate_then: float | None = None) -> Item:
    """Return an estimate times the ratio that a measurement found, marked as measured.

    Args:
        estimate: What is to be corrected: a peak in bytes, or a rate in tokens/s.
        measured: The reader's number for the setting of `estimate_then`, in the same unit.
        estimate_then: The estimate for the setting that was measured; None if it is this one.

    Raises:
        ValueError: If measurement and estimate are more than 100 times apart.
    """
    then = float(estimate.amount if estimate_then is None else estimate_then)
    calibration = Calibration(measured=measured, estimate=then)
    values = {
        "estimate": estimate.amount,
        "measured": calibration.measured,
        "estimate_then": calibration.estimate,
    }
    return item(
        estimate.name, CALIBRATED, values, unit=estimate.unit, source=_SOURCE, kind="measured"
    )
