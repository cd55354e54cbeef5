"""How many sequences of which length fit: the edge between what fits and what does not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.budget.cluster import DeviceSpec
from core.budget.compute.jobs import Job
from core.budget.fits.solve import largest_that_fits
from core.models.spec import ModelSpec

SHORTEST = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """The edge for one number of devices.

    Attributes:
        num_devices: How many share the job.
        tokens: Lengths, up to the model's own context.
        sequences: The most that fit at once with each length; 0 where not one does.
    """

    num_devices: int
    tokens: tuple[int, ...]
    sequences: tuple[int, ...]


def edges(
    spec: ModelSpec, job: Job, device: DeviceSpec, numbers: Sequence[int]
) -> tuple[Edge, ...]:
    """Return the edge for each number of devices over which the model can be split."""
    return tuple(_edges(spec, job, device, numbers))


def _edges(spec: ModelSpec, job: Job, device: DeviceSpec, numbers: Sequence[int]) -> Iterator[Edge]:
    for number in numbers:
        try:
            spread = job.on(number)
            spread.need(spec)
        except ValueError:  # the heads, or any plan, cannot be shared by so many
            continue
        tokens = lengths(spec)
        found = tuple(_most(spec, spread.sized("tokens", each), device) for each in tokens)
        yield Edge(num_devices=number, tokens=tokens, sequences=found)


def _most(spec: ModelSpec, job: Job, device: DeviceSpec) -> int:
    return largest_that_fits(spec, job, device, "sequences").amount


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
