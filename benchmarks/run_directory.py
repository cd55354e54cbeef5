"""What it costs to write a run, and to open and follow it; prints a table."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import show, show_head
from core.train.control import commands as control
from core.train.run.directory import write_info
from core.train.run.reader import RunReader
from core.train.run.records import StepRecord
from core.train.run.store import RunStore
from pages.components.live_chart.feed import Feed

NAME = "20260102t030405z-benchmark-00ff"
NUM_STEPS = 100_000


def make_run(folder: Path) -> Path:
    """Make an empty run inside `folder`."""
    directory = folder / NAME
    directory.mkdir(parents=True)
    info = {"name": NAME, "created": time.time(), "config": {"num_steps": NUM_STEPS}}
    write_info(directory, info)
    return directory


def plausible_record(step: int) -> StepRecord:
    """Return a step with plausible numbers, made now."""
    return StepRecord(
        step=step,
        time=time.time(),
        seconds=0.025,
        loss=1.5 + 2.5 / step,
        learning_rate=1e-3,
        grad_norm=1.25,
        tokens_per_second=31_234.5,
        resident_bytes=353 << 20,
    )


def cpu_microseconds(action: Callable[[int], object], num_times: int) -> list[float]:
    """Return the CPU time of each call in this thread, sorted."""
    spent = []
    for number in range(1, num_times + 1):
        before = time.thread_time_ns()
        action(number)
        spent.append((time.thread_time_ns() - before) / 1000)
    return sorted(spent)


def measure_writer(directory: Path) -> None:
    """Time the writer's calls while it fills a run of NUM_STEPS."""
    inbox = control.Inbox(directory)
    with RunStore(directory) as store:
        steps = [plausible_record(step) for step in range(1, NUM_STEPS + 1)]
        spent = cpu_microseconds(lambda number: store.append_step(steps[number - 1]), NUM_STEPS)
        show("writer: one step, CPU", spent, "us", goal="<= 10")
        spent = cpu_microseconds(lambda n: store.append_event("eval", n, validation_loss=2.5), 2000)
        show("writer: one event, CPU", spent, "us")
        spent = cpu_microseconds(lambda n: store.write_state("running", step=n), 500)
        show("writer: one heartbeat of state.json, CPU", spent, "us")
        store.write_state("finished", step=NUM_STEPS)
        control.send(directory, "pause")
        inbox.poll()
        show(
            "worker: look into the inbox, CPU",
            cpu_microseconds(lambda _n: inbox.poll(), 20_000),
            "us",
        )


def milliseconds(action: Callable[[], object], clock: Callable[[], int]) -> float:
    """Return what the action took on `clock`, which counts nanoseconds."""
    before = clock()
    action()
    return (clock() - before) / 1e6


def measure_reader(directory: Path) -> None:
    """Time what a server does when a run is opened and polled."""
    for name, clock in (("CPU", time.thread_time_ns), ("wall", time.perf_counter_ns)):
        opened = [
            milliseconds(lambda: RunReader(directory).read_new(), clock) for _time in range(15)
        ]
        show(f"reader: open {NUM_STEPS:,} steps, {name}", opened, "ms", goal="<= 50")
    feed, polled = Feed(directory), []
    feed.take(feed.look())
    with RunStore(directory) as store:
        for start in range(NUM_STEPS, NUM_STEPS + 40 * 200, 40):
            for step in range(start + 1, start + 41):
                store.append_step(plausible_record(step))
            poll = milliseconds(lambda: feed.take(feed.look()), time.perf_counter_ns)
            polled.append(poll)
    show("reader: poll 40 new steps and the state", polled, "ms", goal="<= 1")
    snapshots = []
    for _time in range(9):
        feed._encoded.clear()
        snapshots.append(milliseconds(lambda: feed.message(None), time.thread_time_ns))
    show(f"reader: snapshot of {len(feed.message(None)) / 1000:.0f} kB, CPU", snapshots, "ms")


def main() -> None:
    """Measure and print."""
    show_head()
    with tempfile.TemporaryDirectory() as folder:
        directory = make_run(Path(folder))
        measure_writer(directory)
        measure_reader(directory)


if __name__ == "__main__":
    main()
