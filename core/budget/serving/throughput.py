"""What more sequences at once give and cost: tokens/s of a device against each reader's wait."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from core.budget.cluster import Cluster
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.budget.serving.inference_budget import MOST_SEQUENCES, largest_concurrency
from core.budget.serving.serving_plan import ServingPlan
from core.budget.serving.serving_time import decode_latency, prefill_latency
from core.language import N_
from core.models.spec import ModelSpec

USER: Final = Formula("1 / seconds_per_token")
DEVICE: Final = Formula(
    "concurrency * output_len"
    " / (concurrency * prefill_seconds + output_len * seconds_per_token) / tensor"
)
_USER: Final = N_("one token of each sequence in every pass")
_DEVICE: Final = N_("tokens of all answers over the time for their prompts and their tokens")
_BEYOND: Final = 2  # times the sequences at which memory ends it
_FEWEST: Final = 16

Bound = Literal["reading", "computing"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePoint:
    """One number of sequences at once.

    Attributes:
        concurrency: Sequences.
        seconds_per_token: What each reader waits for a token.
        tokens_per_second: Answer tokens of one device, time for the prompts included.
        bound: What the pass waits for.
        fits: Whether weights and KV cache fit.
    """

    concurrency: int
    seconds_per_token: float
    tokens_per_second: float
    bound: Bound
    fits: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """Speed over sequences, and where memory ends it.

    Attributes:
        points: By growing number of sequences.
        largest: Most sequences that fit; 0 if not one does.
    """

    points: tuple[CurvePoint, ...]
    largest: int

    @property
    def last_that_fits(self) -> CurvePoint | None:
        """The point at which memory ends the curve; None if nothing fits."""
        return next((point for point in reversed(self.points) if point.fits), None)

    @property
    def turning(self) -> int | None:
        """Fewest sequences at which computing takes longer than reading; None on this curve."""
        slow = (point.concurrency for point in self.points if point.bound == "computing")
        return next(slow, None)


def user_speed(token: Item) -> Item:
    """Return the tokens/s that one reader sees, from `decode_latency`."""
    return _speed("tokens/s per reader", USER, {"seconds_per_token": token.amount}, token, _USER)


def device_speed(serving: ServingPlan, prefill: Item, token: Item) -> Item:
    """Return the answer tokens/s of one device, its share of the time for prompts included.

    Args:
        serving: Lengths, sequences, and the devices of a group.
        prefill: The time for one prompt, from `prefill_latency`.
        token: The time for one token of each sequence, from `decode_latency`.
    """
    values = {
        "concurrency": serving.concurrency,
        "output_len": serving.output_len,
        "prefill_seconds": prefill.amount,
        "seconds_per_token": token.amount,
        "tensor": serving.tensor,
    }
    return _speed("tokens/s per device", DEVICE, values, token, _DEVICE)


def _speed(name: str, formula: Formula, values: dict[str, float], token: Item, source: str) -> Item:
    band = token.high / token.amount - 1
    return item(name, formula, values, unit="tokens/s", source=source, kind="estimated", band=band)


def throughput_curve(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> Curve:
    """Return the curve over sequences at once, some way beyond the point where memory ends it.

    Raises:
        ValueError: As `inference_budget` and `prefill_seconds`.
    """
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
