"""How long a training step waits for its batch: measured with torch's DataLoader on this machine.

`python -m core.train.start.loader_speed WORKERS PREFETCH ITEM_KIB` measures and prints JSON.
"""

import json
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from core.language import _
from core.train.child import child_answer

if TYPE_CHECKING:
    from torch import Tensor
    from torch.utils.data import Dataset

WORKERS: Final = (0, 1, 2)
NUM_STEPS: Final = 12
BATCH_SIZE: Final = 16
HIDDEN: Final = 512
PASSES: Final = 10  # of one batch: so a step takes about as long as reading it
_SECONDS: Final = 90.0
_RECORDING: Final = Path(__file__).parents[1] / "recordings" / "loaders.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class LoaderTiming:
    """Seconds of each step of one loader: waiting for its batch, then forward, backward and update.

    `item_seconds` is what reading one item takes; `first_seconds` until the first batch was there.
    """

    num_workers: int
    prefetch_factor: int
    wait_seconds: tuple[float, ...]
    step_seconds: tuple[float, ...]
    item_seconds: float
    first_seconds: float

    @property
    def total_seconds(self) -> float:
        """Of all steps after the first batch was there."""
        return sum(self.wait_seconds) + sum(self.step_seconds)

    @property
    def waited(self) -> float:
        """The share of the time in which the step waited."""
        return sum(self.wait_seconds) / self.total_seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedTimings:
    """Loaders timed on another machine, for whoever has not measured yet."""

    num_cores: int
    date: str
    item_kib: int
    prefetch_factor: int
    timings: tuple[LoaderTiming, ...]


@cache
def recorded_timings() -> RecordedTimings:
    """Return the recording that ships with the app, as `measure_loader` gave it."""
    fields = json.loads(_RECORDING.read_text(encoding="utf-8"))
    return RecordedTimings(**fields | {"timings": tuple(map(_timing, fields["timings"]))})


class Compressed:
    """Items that cost time to read, as images do: compressed bytes that are decompressed."""

    def __init__(self, num_items: int, item_kib: int) -> None:
        self._num_items = num_items
        # Numbers of seven bits compress a little, and take their time to come back.
        number, numbers = 1, bytearray()
        for _index in range(item_kib * 1024):
            number = number * 1103515245 + 12345 & 0x7FFFFFFF
            numbers.append(number >> 24)
        self._packed = zlib.compress(bytes(numbers))

    def __len__(self) -> int:
        return self._num_items

    def __getitem__(self, index: int) -> list[float]:
        """Return the first numbers of an item, made anew each time."""
        numbers = zlib.decompress(self._packed)
        return [numbers[(index + place) % len(numbers)] / 128 for place in range(64)]


def measure_loader(num_workers: int, prefetch_factor: int, item_kib: int) -> LoaderTiming:
    """Return the times of one loader, measured in a fresh process."""
    said = child_answer(
        "core.train.start.loader_speed",
        [str(num_workers), str(prefetch_factor), str(item_kib)],
        seconds=_SECONDS,
        too_late=_("The loader was not measured: it took longer than {seconds} s.").format(
            seconds=f"{_SECONDS:g}"
        ),
        failed=_("The loader was not measured: {reason}").format,
    )
    return _timing(json.loads(said.splitlines()[-1]))


def _timing(fields: dict[str, Any]) -> LoaderTiming:
    lists = {name: tuple(fields[name]) for name in ("wait_seconds", "step_seconds")}
    return LoaderTiming(**fields | lists)


def time_loader(num_workers: int, prefetch_factor: int, item_kib: int) -> LoaderTiming:
    """Return the times of one loader, measured here."""
    import torch
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)  # the other cores are for the workers
    items = Compressed(BATCH_SIZE * (NUM_STEPS + 1), item_kib)
    begun = time.perf_counter()
    for index in range(8):
        items[index]
    item_seconds = (time.perf_counter() - begun) / 8
    loader: DataLoader[Tensor] = DataLoader(
        cast("Dataset[Tensor]", items),  # a length and items are all it needs
        BATCH_SIZE,
        num_workers=num_workers,
        collate_fn=torch.tensor,
        multiprocessing_context="spawn" if num_workers else None,
        prefetch_factor=prefetch_factor if num_workers else None,
    )
    begun = time.perf_counter()
    batches = iter(loader)
    next(batches)
    first_seconds = time.perf_counter() - begun
    waits, steps = _time_steps(batches)
    del batches  # ends the workers before the process does
    return LoaderTiming(
        num_workers=num_workers, prefetch_factor=prefetch_factor, wait_seconds=waits,
        step_seconds=steps, item_seconds=item_seconds, first_seconds=first_seconds,
    )  # fmt: skip


def _time_steps(batches: "Iterator[Tensor]") -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return of each step how long it waited and how long it computed."""
    import torch
    from torch import nn

    model = nn.Sequential(
        nn.Linear(64, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model(torch.zeros(BATCH_SIZE, 64)).mean().backward()  # the first time loads kernels
    waits, steps = [], []
    for _step in range(NUM_STEPS):
        begun = time.perf_counter()
        batch = next(batches)
        there = time.perf_counter()
        for _pass in range(PASSES):
            loss = (model(batch) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        waits.append(there - begun)
        steps.append(time.perf_counter() - there)
    return tuple(waits), tuple(steps)


def main(arguments: Sequence[str]) -> None:
    """Measure what the command line names and print it as JSON."""
    num_workers, prefetch_factor, item_kib = map(int, arguments)
    timing = time_loader(num_workers, prefetch_factor, item_kib)
    sys.stdout.write(json.dumps(asdict(timing)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
