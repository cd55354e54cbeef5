"""What it costs to write a run, to read it, and to show it to a class; prints a table.

Usage: python -m benchmarks.stream [--viewers 30 100] [--seconds 15]
"""

import argparse
import asyncio
import json
import multiprocessing
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import uvicorn
from starlette.applications import Starlette

from core.train import control
from core.train.info import write_info
from core.train.reader import RunReader
from core.train.records import StepRecord
from core.train.store import RunStore
from pages.components.live_chart.feed import Feed
from pages.components.live_chart.stream import LiveStream

NAME = "20260102t030405z-benchmark-00ff"
NUM_STEPS = 100_000


def make_run(folder: Path) -> Path:
    """Make an empty run inside `folder`."""
    directory = folder / NAME
    directory.mkdir(parents=True)
    info = {"name": NAME, "created": time.time(), "config": {"num_steps": NUM_STEPS}}
    write_info(directory, info)
    return directory


def record(step: int) -> StepRecord:
    """Return a step with plausible numbers."""
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


def show(what: str, numbers: list[float], unit: str, *, goal: str = "") -> None:
    """Print one row: median, 99th percentile, number of samples, goal."""
    numbers = sorted(numbers)
    p99 = numbers[min(len(numbers) - 1, int(0.99 * len(numbers)))]
    median = statistics.median(numbers)
    print(f"{what:<44} {median:>10.2f} {p99:>10.2f} {unit:<4} {len(numbers):>7} {goal}", flush=True)


def measure_writer(directory: Path) -> None:
    """Time the writer's calls while it fills a run of NUM_STEPS."""
    inbox = control.Inbox(directory)
    with RunStore(directory) as store:
        steps = [record(step) for step in range(1, NUM_STEPS + 1)]
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


def measure_reader(directory: Path) -> None:
    """Time what a server does when a run is opened and polled."""

    def milliseconds(action: Callable[[], object]) -> float:
        before = time.perf_counter_ns()
        action()
        return (time.perf_counter_ns() - before) / 1e6

    opened = [milliseconds(lambda: RunReader(directory).read_new()) for _time in range(15)]
    show(f"reader: open {NUM_STEPS:,} steps", opened, "ms", goal="<= 50")
    feed, polled = Feed(directory), []
    feed.take(feed.look())
    with RunStore(directory) as store:
        for start in range(NUM_STEPS, NUM_STEPS + 40 * 200, 40):
            for step in range(start + 1, start + 41):
                store.append_step(record(step))
            polled.append(milliseconds(lambda: feed.take(feed.look())))
    show("reader: poll 40 new steps and the state", polled, "ms", goal="<= 1")
    snapshots = []
    for _time in range(9):
        feed._encoded.clear()
        snapshots.append(milliseconds(lambda: feed.message(None)))
    show(f"reader: snapshot of {len(feed.message(None)) / 1000:.0f} kB", snapshots, "ms")


def serve(folder: Path, connection: Connection) -> None:
    """Serve the runs in `folder` until told to stop; send the port first."""
    live = LiveStream(lambda: folder)
    settings = uvicorn.Config(
        Starlette(routes=live.routes()), host="127.0.0.1", port=0, ws="none", log_level="error"
    )
    server = uvicorn.Server(settings)

    async def run() -> None:
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        connection.send(server.servers[0].sockets[0].getsockname()[1])
        await asyncio.to_thread(connection.recv)
        live.hub.stop()
        server.should_exit = True
        await serving

    asyncio.run(run())


async def view(port: int, until: float, arrivals: dict[str, list[float]]) -> None:
    """Be one viewer: note when each update arrives, and how old its step is."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    writer.write(b"GET /live/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    while (left := until - time.monotonic()) > 0:
        try:
            line = await asyncio.wait_for(reader.readline(), left)
        except TimeoutError:
            break
        if line.startswith(b"data: ") and b'"total_records"' not in line:
            for moment in json.loads(line[6:])["columns"]["time"]:
                arrivals.setdefault(str(moment), []).append(time.time() - moment)
    writer.close()


def train_slowly(directory: Path, done: threading.Event) -> None:
    """Commit one step a second."""
    with RunStore(directory, attempt=2) as store:
        step = 0
        while not done.wait(1.0):
            step += 1
            store.append_step(record(step))


def measure_viewers(folder: Path, num_viewers: int, seconds: float) -> None:
    """Let `num_viewers` watch a run that makes one step a second."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, theirs))
    process.start()
    port, done = ours.recv(), threading.Event()
    trainer = threading.Thread(target=train_slowly, args=(folder / NAME, done))
    trainer.start()
    arrivals: dict[str, list[float]] = {}
    server = psutil.Process(process.pid)

    async def watch() -> float:
        viewers = [view(port, time.monotonic() + seconds + 3, arrivals) for _ in range(num_viewers)]
        watching = asyncio.gather(*viewers)
        await asyncio.sleep(3)  # everyone has joined
        before = sum(server.cpu_times()[:2])
        await asyncio.sleep(seconds - 1)
        spent = sum(server.cpu_times()[:2]) - before
        await watching
        return 100 * spent / (seconds - 1)

    share = asyncio.run(watch())
    done.set()
    trainer.join()
    ours.send("stop")
    process.join()
    show(f"{num_viewers} viewers at 1 Hz: share of one core", [share], "%")
    delays = [1000 * delay for each in arrivals.values() for delay in each]
    show("    from commit to viewer, poll every 500 ms", delays, "ms")
    spread = [1000 * (max(each) - min(each)) for each in arrivals.values()]
    show("    from the first viewer to the last", spread, "ms", goal="< 100")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, nargs="*", default=[30, 100])
    parser.add_argument("--seconds", type=float, default=15.0)
    options = parser.parse_args()
    print(f"{'':<44} {'median':>10} {'p99':>10} {'':<4} {'samples':>7} goal")
    with tempfile.TemporaryDirectory() as folder:
        directory = make_run(Path(folder))
        measure_writer(directory)
        measure_reader(directory)
        for num_viewers in options.viewers:
            measure_viewers(Path(folder), num_viewers, options.seconds)


if __name__ == "__main__":
    main()
