"""The budget backwards: the largest job that fits, the fewest devices, the edge between the two."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from core.budget.cluster import DeviceSpec
from core.budget.fits.jobs import Job, Size
from core.budget.fits.matrix import first_failing
from core.budget.item import Item, is_uncertain
from core.budget.weights.parameters import counts
from core.models.spec import ModelSpec

MOST_SEQUENCES: Final = 1_000_000
MOST_DEVICES: Final = 4096
SHORTEST: Final = 128  # tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The largest or fewest of something."""

    amount: int  # how many; 0 if there is no answer
    need: Item | None
    capacity: float  # bytes that a process can fill on it
    # name of the first item that fails one step further; "" where the search ended for another
    # reason
    reason: str = ""
    at_limit: bool = False  # whether the search ended at its limit, or at the model's own context
    tried: int = 0  # of devices the largest number that was tried


def largest_number(fits: Callable[[int], bool], most: int) -> int:
    """Return the largest number from 1 to `most` that fits, 0 if not even 1 does.

    What does not fit must not fit with more.

    >>> largest_number(lambda n: n * n <= 50, most=1000)
    7
    """
    low, high = 0, 1
    while high <= most and fits(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def largest_that_fits(
    spec: ModelSpec, job: Job, device: DeviceSpec, size: Size, known: int | None = None
) -> Answer:
    """Return the most sequences at once, or the longest sequences, that fit.

    The search ends at a million sequences, or at the model's own context. What an earlier one has
    found is `known`.

    Raises:
        ValueError: If the model cannot be split as the job asks.
    """
    limit = spec.seq_len if size == "tokens" else MOST_SEQUENCES

    def need(amount: int) -> Item:
        return job.sized(size, amount).need(spec)

    capacity = device.memory_usable
    found = known
    if found is None:
        found = largest_number(lambda amount: need(amount).amount <= capacity, limit)
    beyond = first_failing(need(found + 1), capacity) if found < limit else None
    return Answer(
        amount=found,
        need=need(found) if found else None,
        capacity=capacity,
        reason=beyond.name if beyond else "",
        at_limit=found == limit,
    )


def min_devices(spec: ModelSpec, job: Job, device: DeviceSpec, most: int = MOST_DEVICES) -> Answer:
    """Return the fewest devices, of those that the job may have, over which it fits.

    Numbers over which the model cannot be split are passed over. Without an answer `reason` is
    what fails on the largest number.
    """
    capacity, last, number = device.memory_usable, "", 0
    for number, need in group_needs(spec, job, most):
        if need.amount <= capacity:
            return Answer(amount=number, need=need, capacity=capacity, reason=last, tried=number)
        failing = first_failing(need, capacity)
        last = failing.name if failing else ""
    return Answer(amount=0, need=None, capacity=capacity, reason=last, at_limit=True, tried=number)


def group_needs(spec: ModelSpec, job: Job, most: int = MOST_DEVICES) -> Iterator[tuple[int, Item]]:
    """Yield numbers of devices, the fewest first, with what each of them then holds."""
    for number in job.counts(most):
        with suppress(ValueError):  # the heads cannot be shared by so many
            yield number, job.on(number).need(spec)


def largest_model(
    models: Mapping[str, ModelSpec], job: Job, device: DeviceSpec
) -> tuple[str, Item] | None:
    """Return the model with most parameters that fits, and what it holds; None if none does."""
    by_size = sorted(models, key=lambda key: counts(models[key]).total, reverse=True)
    for key in by_size:
        try:
            need = job.need(models[key])
        except ValueError:  # this one cannot be split as the job asks
            continue
        if need.amount <= device.memory_usable:
            return key, need
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """The edge for one number of devices."""

    num_devices: int
    tokens: tuple[int, ...]  # lengths, up to the model's own context
    sequences: tuple[int, ...]  # the most that fit at once with each length; 0 where not one does
    is_guess: bool = False


def edges(
    spec: ModelSpec, job: Job, device: DeviceSpec, numbers: Sequence[int]
) -> tuple[Edge, ...]:
    """Return the edge for each number of devices over which the model can be split."""
    tokens, found = lengths(spec), []
    for number in numbers:
        try:
            spread = job.on(number)
            spread.need(spec)
        except ValueError:  # the heads, or any plan, cannot be shared by so many
            continue
        jobs = [spread.sized("tokens", each) for each in tokens]
        most = tuple(largest_that_fits(spec, each, device, "sequences").amount for each in jobs)
        found.append(
            Edge(num_devices=number, tokens=tokens, sequences=most, is_guess=is_uncertain(spec))
        )
    return tuple(found)


def lengths(spec: ModelSpec) -> tuple[int, ...]:
    """Return doubling lengths up to the model's own context, which is the last.

    >>> from core.budget.catalogue.models import MODELS
    >>> lengths(MODELS["gpt2"])
    (128, 256, 512, 1024)
    """
    found = [SHORTEST]
    while 2 * found[-1] <= spec.seq_len:
        found.append(2 * found[-1])
    return tuple(found) if found[-1] >= spec.seq_len else (*found, spec.seq_len)


def by_length(edge: Edge) -> Mapping[int, int]:
    """Return length -> most sequences, without the lengths at which nothing fits."""
    pairs = zip(edge.tokens, edge.sequences, strict=True)
    return {tokens: sequences for tokens, sequences in pairs if sequences}
