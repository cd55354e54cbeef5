"""How much of a device's bandwidth decoding really uses, learned from published speeds.

No model reaches the bandwidth of the data sheet. 31 published speeds of one program on one kind of
device follow one rule within some per cent: reading the weights at a share of the bandwidth, which
is smaller for fewer bits, and a fixed time for each layer, which is longer where devices must wait
for each other.

How far the rule is off where it has not been is read from the same rows, each predicted from
others: row by row for one sequence on that device; one device from several, and the reverse, for
everything that nobody has published.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import DeviceSpec
from core.budget.serving.plan import ServingPlan
from core.budget.table import read_table
from core.budget.weights.parameters import counts
from core.budget.weights.stored import bits_per_value
from core.language import N_

WIDTHS: Final = (16, 8, 4)  # bits of a code; each has its own kernels
_MOST_ROWS_WITHIN: Final = 0.9
_NEAR: Final = N_(
    "roofline plus launches; nine in ten of 31 published speeds of gpt-fast, one sequence on A100, "
    "are within this band when each is predicted from the other ones"
)
_FAR: Final = N_(
    "roofline plus launches; a wider band, because no speeds are published for other devices, "
    "several sequences or another share of the bandwidth: it is the error when gpt-fast's speeds "
    "on one A100 are predicted from those on several, and the reverse"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodeSpeed:
    """One published speed, with what had to be read for each token.

    Attributes:
        bits: Of one stored weight, its share of scales included.
        reading: Seconds that one device would need for its weights at the full bandwidth.
    """

    model: str
    bits: float
    tensor: int
    tokens_per_second: float
    num_layers: int
    reading: float

    @property
    def width(self) -> int:
        """Bits of a code."""
        return code_width(self.bits)

    @property
    def mbu(self) -> float:
        """Share of the bandwidth that the published speed amounts to."""
        return self.reading * self.tokens_per_second


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodeFit:
    """The rule that the speeds follow.

    Attributes:
        shares: Bits of a code -> share of the bandwidth at which weights are read.
        launch_seconds: Time for each layer, whatever its size.
        join_seconds: Time for each layer in which several devices wait for each other.
    """

    shares: Mapping[int, float]
    launch_seconds: float
    join_seconds: float

    def seconds(self, row: DecodeSpeed) -> float:
        """Return the seconds for one token that the rule gives for a row."""
        layer = self.launch_seconds + self.join_seconds * (row.tensor > 1)
        return row.reading / self.shares[row.width] + row.num_layers * layer


@dataclass(frozen=True, kw_only=True, slots=True)
class Band:
    """How far a time may be from the rule."""

    below: float
    above: float
    source: str


def code_width(bits: float) -> int:
    """Return which kernels read weights of so many bits.

    >>> [code_width(bits) for bits in (32, 16, 8.125, 5, 4.127)]
    [16, 16, 8, 4, 4]
    """
    return 16 if bits > 12 else 8 if bits > 6 else 4


@cache
def measured_device() -> DeviceSpec:
    """Return the device of all published speeds."""
    return DEVICES[read_table(__file__)["device"]]


@cache
def published_speeds() -> tuple[DecodeSpeed, ...]:
    """Return all published speeds."""
    bandwidth = measured_device().bandwidth
    return tuple(_speed(bandwidth, *row) for row in read_table(__file__)["rows"])


def _speed(
    bandwidth: float, model: str, bits: float, tensor: int, tokens_per_second: float
) -> DecodeSpeed:
    found = counts(MODELS[model])
    num_read = found.active - found.embeddings
    return DecodeSpeed(
        model=model,
        bits=bits,
        tensor=tensor,
        tokens_per_second=tokens_per_second,
        num_layers=MODELS[model].num_layers,
        reading=num_read * bits / 8 / tensor / bandwidth,
    )


def fit(rows: Sequence[DecodeSpeed]) -> DecodeFit:
    """Return the rule with the least squares of the rows' relative errors."""
    table = np.array([_terms(row) for row in rows])
    solved = np.linalg.lstsq(table, np.ones(len(rows)), rcond=None)[0]
    *slowness, launch, join = (float(each) for each in solved)
    return DecodeFit(
        shares={width: 1 / each for width, each in zip(WIDTHS, slowness, strict=True)},
        launch_seconds=launch,
        join_seconds=join,
    )


def _terms(row: DecodeSpeed) -> list[float]:
    """Return the shares of the published time that a unit of each unknown makes up."""
    reading = [row.reading if row.width == width else 0.0 for width in WIDTHS]
    layers = [float(row.num_layers), row.num_layers * float(row.tensor > 1)]
    return [each * row.tokens_per_second for each in (*reading, *layers)]


@cache
def measured_fit() -> DecodeFit:
    """Return the rule of all published speeds."""
    return fit(published_speeds())


def errors_left_out(kind: Callable[[DecodeSpeed], Hashable]) -> tuple[float, ...]:
    """Return each row's relative error by the rule of the rows of every other kind."""
    rows = published_speeds()
    rules = {
        left_out: fit([row for row in rows if kind(row) != left_out])
        for left_out in {kind(row) for row in rows}
    }
    return tuple(rules[kind(row)].seconds(row) * row.tokens_per_second - 1 for row in rows)


@cache
def near_band() -> Band:
    """Return the band for what was published: one sequence on that device."""
    error = _most_errors(errors_left_out(lambda row: row))
    return Band(below=error, above=error, source=_NEAR)


@cache
def far_band() -> Band:
    """Return the band elsewhere: a factor either way, the same for times and for speeds."""
    error = _most_errors(errors_left_out(lambda row: row.tensor > 1))
    return Band(below=error, above=1 / (1 - error) - 1, source=_FAR)


def _most_errors(errors: Sequence[float]) -> float:
    return float(np.quantile(np.abs(errors), _MOST_ROWS_WITHIN))


def decode_band(plan: ServingPlan, device: DeviceSpec) -> Band:
    """Return how far a plan's time per token may be from the rule."""
    is_published = plan.concurrency == 1 and device == measured_device()
    is_learned = plan.mbu == measured_mbu(plan.weight_format)
    return near_band() if is_published and is_learned else far_band()


def measured_mbu(weight_format: str) -> float:
    """Return the share of the bandwidth at which weights of a format are read.

    Raises:
        ValueError: If the format is unknown.
    """
    return measured_fit().shares[code_width(bits_per_value(weight_format))]


def with_measured_mbu(plan: ServingPlan) -> ServingPlan:
    """Return the plan with the share of the bandwidth that was measured for its weights.

    Raises:
        ValueError: If the format of its weights is unknown.
    """
    return replace(plan, mbu=measured_mbu(plan.weight_format))
