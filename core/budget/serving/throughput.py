"""What more sequences at once give and cost, against a measured speed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Final, Literal

from core.budget.check import check_range
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, item, weakest
from core.budget.serving.latency import decode_latency, prefill_latency
from core.budget.serving.memory import MOST_SEQUENCES, largest_concurrency
from core.budget.serving.plan import LEAST_MBU, ServingPlan
from core.language import N_, _
from core.models.spec import ModelSpec
from core.units import format_seconds

Bound = Literal["reading", "computing"]

USER: Final = Formula("1 / seconds_per_token")
DEVICE: Final = Formula(
    "concurrency * output_len"
    " / (concurrency * prefill_seconds + output_len * seconds_per_token) / tensor"
)
_DEVICE: Final = N_(
    "tokens of all answers over the time for their prompts and their tokens; no band, because "
    "there are no published measurements of prompts to compare with"
)
_BEYOND: Final = 2  # times the sequences at which memory ends it
_FEWEST: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePoint:
    """One number of sequences at once.

    Attributes:
        seconds_per_token: What each reader waits for a token.
        tokens_per_second: Answer tokens of one device, time for the prompts included.
    """

    concurrency: int
    seconds_per_token: float
    tokens_per_second: float
    bound: Bound
    fits: bool
    is_guess: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """Speed over sequences, and where memory ends it.

    Attributes:
        largest: Most sequences that fit; 0 if not one does.
    """

    points: tuple[CurvePoint, ...]
    largest: int

    @property
    def last_that_fits(self) -> CurvePoint | None:
        """The point at which memory ends the curve; None if nothing fits."""
        return next((point for point in reversed(self.points) if point.fits), None)


def user_speed(token: Item) -> Item:
    """Return the tokens/s that one reader sees, from `decode_latency`."""
    values = {"seconds_per_token": token.amount}
    speed = item(
        "tokens/s per reader", USER, values, unit="tokens/s", source=token.source, kind=token.kind
    )
    fastest = 1 / token.low if token.low else inf
    return replace(speed, low=1 / token.high, high=fastest, guess=token.guess)


def device_speed(serving: ServingPlan, prefill: Item, token: Item) -> Item:
    """Return the answer tokens/s of one device, its share of the time for prompts included."""
    values = {
        "concurrency": serving.concurrency,
        "output_len": serving.output_len,
        "prefill_seconds": prefill.amount,
        "seconds_per_token": token.amount,
        "tensor": serving.tensor,
    }
    speed = item(
        "tokens/s per device",
        DEVICE,
        values,
        unit="tokens/s",
        source=_DEVICE,
        kind=weakest([prefill.kind, token.kind]),
    )
    return replace(speed, guess=prefill.guess)


def throughput_curve(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> Curve:
    """Return the curve over sequences at once, some way beyond the point where memory ends it."""
    largest = largest_concurrency(spec, serving, cluster)
    prefill = prefill_latency(spec, serving, cluster)
    points = []
    for concurrency in sorted({serving.concurrency, *sequence_counts(largest)}):
        plan = replace(serving, concurrency=concurrency)
        token = decode_latency(spec, plan, cluster)
        points.append(
            CurvePoint(
                concurrency=concurrency,
                seconds_per_token=float(token.amount),
                tokens_per_second=float(device_speed(plan, prefill, token).amount),
                bound=bound_of(token),
                fits=concurrency <= largest,
                is_guess=token.guess,
            )
        )
    return Curve(points=tuple(points), largest=largest)


def bound_of(latency: Item) -> Bound:
    """Return what a pass waits for: reading or computing."""
    roofline = latency.child("reading or computing")
    slower = max(roofline.children, key=lambda part: part.amount)
    return "reading" if slower.name == "reading" else "computing"


def sequence_counts(largest: int) -> list[int]:
    """Return the numbers of sequences of a curve: 1, 2, 3, 4, 6, 8, 12 ... and `largest` itself.

    >>> sequence_counts(0)[-3:], 100 in sequence_counts(100)
    ([8, 12, 16], True)
    """
    end = min(max(_FEWEST, _BEYOND * largest), MOST_SEQUENCES)
    counts = {count for count in _doublings(end) if count <= end}
    return sorted(counts | {largest} - {0})


def _doublings(end: int) -> Iterator[int]:
    power = 1
    while power <= end:
        yield power
        yield power + power // 2
        power *= 2


def calibrated(
    spec: ModelSpec, serving: ServingPlan, cluster: Cluster, tokens_per_second: float
) -> ServingPlan:
    """Return the plan with the share of the bandwidth that a measured speed amounts to.

    Formats and devices are those of the measurement, in which nobody else was served.

    Raises:
        ValueError: If the speed is not positive, more than the device's bandwidth allows, or so
            little that hardly any of it is used.
    """
    check_range("tokens_per_second", tokens_per_second, 0.001, 1e9)
    alone = replace(serving, concurrency=1, mbu=1.0, mfu=1.0)
    fastest = decode_latency(spec, alone, cluster)
    roofline = fastest.child("reading or computing")
    beside = fastest.amount - roofline.amount  # launches and all-reduces
    left = 1 / tokens_per_second - beside
    share = roofline.child("reading").amount / left if left > 0 else 2
    words = {
        "speed": f"{tokens_per_second:,.4g}",
        "device": cluster.device.name,
        "least": format_seconds(fastest.amount),
        "model": spec.name,
    }
    if share > 1:
        sentence = _(
            "{speed} tokens/s cannot be: {device} needs at least {least} for one token of {model}. "
            "Look at the model, the format and the device."
        )
        raise ValueError(sentence.format(**words))
    if share < LEAST_MBU:
        sentence = _(
            "{speed} tokens/s is not a thousandth of what {device} gives {model} at best ({least} "
            "a token). Look at the model, the format and the device."
        )
        raise ValueError(sentence.format(**words))
    return replace(serving, mbu=share)
