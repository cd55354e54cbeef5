"""What a class that watches a run costs the server; prints a table."""

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import uvicorn
from starlette.applications import Starlette

from benchmarks.measuring import show, show_head
from benchmarks.run_directory import make_run, plausible_record
from core.train.run.store import RunStore
from pages.components.live_chart.stream import LiveStream

JOINING_SECONDS = 3


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What watching cost."""

    share: float  # CPU time of the server divided by wall time, in percent of one core
    # Milliseconds from the commit of a step to its arrival, for each viewer and step
    delays: list[float]
    # Milliseconds from the first viewer's arrival to the last one's, for each step
    spreads: list[float]


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


async def view(
    port: int, until: float, arrivals: dict[str, list[float]], *, newest: int = 0
) -> None:
    """Be one viewer: note when each update arrives, and how old its steps, or the newest, are."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    writer.write(b"GET /live/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    event = b""
    while (left := until - time.monotonic()) > 0:
        try:
            line = await asyncio.wait_for(reader.readline(), left)
        except TimeoutError:
            break
        if line.startswith(b"event: "):
            event = line.split()[1]
        elif line.startswith(b"data: ") and event == b"update":
            for moment in json.loads(line[6:])["columns"]["time"][-newest:]:
                arrivals.setdefault(str(moment), []).append(time.time() - moment)
    writer.close()


def train_slowly(directory: Path, done: threading.Event) -> None:
    """Commit one step a second."""
    with RunStore(directory, attempt=2) as store:
        step = 0
        while not done.wait(1.0):
            step += 1
            store.append_step(plausible_record(step))


def watch_run(directory: Path, num_viewers: int, seconds: float) -> Watched:
    """Let `num_viewers` watch a run that makes one step a second."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=serve, args=(directory.parent, theirs))
    process.start()
    port, done = ours.recv(), threading.Event()
    trainer = threading.Thread(target=train_slowly, args=(directory, done))
    trainer.start()
    arrivals: dict[str, list[float]] = {}
    try:
        share = asyncio.run(
            watch(psutil.Process(process.pid), port, num_viewers, seconds, arrivals)
        )
    finally:
        done.set()
        trainer.join()
        ours.send("stop")
        process.join()
    delays = [1000 * delay for each in arrivals.values() for delay in each]
    spreads = [1000 * (max(each) - min(each)) for each in arrivals.values()]
    return Watched(share=share, delays=delays, spreads=spreads)


async def watch(
    server: psutil.Process,
    port: int,
    num_viewers: int,
    seconds: float,
    arrivals: dict[str, list[float]],
) -> float:
    """Run the viewers; return the server's share of one core in percent once all have joined."""
    until = time.monotonic() + JOINING_SECONDS + seconds
    watching = asyncio.gather(*(view(port, until, arrivals) for _ in range(num_viewers)))
    await asyncio.sleep(JOINING_SECONDS)
    before = sum(server.cpu_times()[:2])
    await asyncio.sleep(seconds - 1)
    spent = sum(server.cpu_times()[:2]) - before
    await watching
    return 100 * spent / (seconds - 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, nargs="*", default=[30, 100])
    parser.add_argument("--seconds", type=float, default=15.0)
    options = parser.parse_args()
    show_head()
    for num_viewers in options.viewers:
        with tempfile.TemporaryDirectory() as folder:
            watched = watch_run(make_run(Path(folder)), num_viewers, options.seconds)
        show(f"{num_viewers} viewers at 1 Hz: share of one core", [watched.share], "%")
        show("    from commit to viewer", watched.delays, "ms", goal="p95 < 100")
        show("    from the first viewer to the last", watched.spreads, "ms")


if __name__ == "__main__":
    main()
