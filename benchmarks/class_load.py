"""What a class of thirty costs the real server while a run trains; prints a table.

Everything stays on 127.0.0.1, bounded in number and time. `--soak 10` adds ten minutes with thirty
viewers and ten busy sessions, and prints how much memory the server holds. `--drag tensors` lets
the class drag a tensor's last dimension on Strides and views, not the context length on Serving.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import statistics
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.measuring import Server, cold_server, show, show_head
from benchmarks.stream import view
from benchmarks.streamlit_client import Session, open_session
from core.train.config import TrainConfig
from core.train.control.commands import send
from core.train.run.reader import RunReader
from core.train.start.launch import start_run
from core.train.start.plan import prepare
from pages.shared.plan.choices import SERVED_CONTEXTS

NUM_SESSIONS, SECONDS_BETWEEN_MOVES = 30, 2.0
SLOW = 1.0
COLUMNS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # of a tensor of four rows: all are drawn
LAYERS = ("1", "2", "3", "4", "6", "8", "12")
MOST_SECONDS = 3600  # no part of this program lasts longer


@dataclass(frozen=True, kw_only=True)
class Dragged:
    """A slider that a class drags: the word of its page, its key, what it may say."""

    page: str
    key: str
    options: tuple[str, ...]


DRAGGED = {
    "serving": Dragged(
        page="serving", key="plan_context_length_choice", options=tuple(map(str, SERVED_CONTEXTS))
    ),
    "tensors": Dragged(
        page="strides-and-views", key="strides_columns_choice", options=tuple(map(str, COLUMNS))
    ),
}


@contextlib.contextmanager
def training() -> Iterator[Path]:
    """Train the reference model of a minute without end while the block runs."""
    config = TrainConfig(name="load", num_steps=1_000_000, eval_interval=1000, sample_interval=1000)
    directory = start_run(prepare(config))
    reader = RunReader(directory)
    while reader.read_state().step < 20:
        time.sleep(0.1)
    try:
        yield directory
    finally:
        send(directory, "stop", by="benchmark")
        while not reader.read_state().is_final:
            time.sleep(0.1)


def cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU time of a process so far."""
    return float(sum(process.cpu_times()[:2]))


async def move_sliders(session: Session, until: float, number: int, moves: list[float]) -> None:
    """Move one session's slider every two seconds; note the seconds that each move took."""
    await asyncio.sleep(SECONDS_BETWEEN_MOVES * number / NUM_SESSIONS)
    turn = number
    while time.monotonic() < until:
        began = time.monotonic()
        turn += 1
        option = LAYERS[turn % len(LAYERS)]
        moves.append(
            await session.choose("slider", "lr_layers_choice", string_array_value=[option])
        )
        await asyncio.sleep(max(SECONDS_BETWEEN_MOVES - (time.monotonic() - began), 0.0))


@contextlib.asynccontextmanager
async def busy_sessions(
    port: int, number: int, page: str = "live-run"
) -> AsyncIterator[list[Session]]:
    """Open sessions on a page, one after the other."""
    async with contextlib.AsyncExitStack() as stack:
        sessions = []
        for each in range(number):
            query = "lang=zh" if each % 2 else "lang=en"
            session = await stack.enter_async_context(open_session(port, page=page, query=query))
            await session.run()
            sessions.append(session)
        yield sessions


async def slide(server: Server, seconds: float) -> tuple[list[float], float]:
    """Return the milliseconds of each move, and the CPU milliseconds of one move."""
    async with busy_sessions(server.port, NUM_SESSIONS) as sessions:
        moves: list[float] = []
        before, until = cpu_seconds(server.process), time.monotonic() + seconds
        await asyncio.gather(
            *(move_sliders(each, until, number, moves) for number, each in enumerate(sessions))
        )
        spent = cpu_seconds(server.process) - before
        if problems := [problem for each in sessions for problem in each.exceptions]:
            raise RuntimeError(problems[0])
    return [1000 * each for each in moves], 1000 * spent / len(moves)


async def drag(server: Server, seconds: float, dragged: Dragged) -> tuple[list[float], list[float]]:
    """Let all sessions drag at once; return milliseconds of each picture and of the live stream.

    A session asks for its next picture when the last one has come, as the slider in the browser
    does; after a picture of more than a second it asks only when the hand leaves.
    """
    moves: list[float] = []

    async def hand(session: Session, number: int, until: float) -> None:
        while time.monotonic() < until:
            number += 1
            option = dragged.options[number % len(dragged.options)]
            taken = await session.choose("slider", dragged.key, string_array_value=[option])
            moves.append(taken)
            if taken > SLOW:  # its drag of two seconds is over before the next picture
                await asyncio.sleep(SECONDS_BETWEEN_MOVES)

    async with busy_sessions(server.port, NUM_SESSIONS, dragged.page) as sessions:
        until = time.monotonic() + seconds
        hands = [hand(each, number, until) for number, each in enumerate(sessions)]
        # A browser of its own: here it would wait for what thirty others read.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as viewer:
            loop = asyncio.get_running_loop()
            seen: asyncio.Future[list[float]]
            seen = loop.run_in_executor(viewer, look, server.port, seconds)
            await asyncio.gather(seen, *hands)
    return [1000 * each for each in moves], [1000 * each for each in seen.result()]


def look(port: int, seconds: float) -> list[float]:
    """Return how old the newest step of each update was when it came, in seconds."""
    arrivals: dict[str, list[float]] = {}
    asyncio.run(view(port, time.monotonic() + seconds, arrivals, newest=1))
    return [delay for each in arrivals.values() for delay in each]


def tokens_per_second(reader: RunReader, config: TrainConfig, seconds: float) -> float:
    """Return the trainer's own speed over the next seconds, from the times of its records."""
    reader.read_new()
    time.sleep(seconds)
    times = reader.read_new().records["time"]
    return float(config.tokens_per_step * (len(times) - 1) / (times[-1] - times[0]))


async def watch_while(port: int, num_viewers: int, seconds: float, measure: object) -> float:
    """Let viewers follow the run while `measure` runs in a thread; return what it returned."""
    until = time.monotonic() + seconds + 3
    viewers = [asyncio.create_task(view(port, until, {})) for _ in range(num_viewers)]
    await asyncio.sleep(1.5)
    result = await asyncio.to_thread(measure)  # type: ignore[arg-type]
    await asyncio.gather(*viewers)
    return float(result)


def measure_trainer(server: Server, directory: Path, num_pairs: int, seconds: float) -> list[float]:
    """Return for each pair of windows how much slower the trainer was with thirty viewers, in %."""
    reader, losses = RunReader(directory), []
    config = TrainConfig.from_json(reader.info["config"])
    for pair in range(num_pairs):

        def alone() -> float:
            return tokens_per_second(reader, config, seconds)

        def watched() -> float:
            return asyncio.run(watch_while(server.port, 30, seconds, alone))

        # Which window comes first alternates: a machine that warms up favours neither.
        first, second = (alone, watched) if pair % 2 else (watched, alone)
        speeds = {first: first(), second: second()}
        losses.append(100 * (1 - speeds[watched] / speeds[alone]))
    return losses


async def soak(server: Server, minutes: float) -> list[float]:
    """Return the server's resident MiB every 30 seconds under thirty viewers and ten sessions."""
    sizes: list[float] = []
    until = time.monotonic() + min(60 * minutes, MOST_SECONDS)
    viewers = [asyncio.create_task(view(server.port, until, {})) for _ in range(30)]
    async with busy_sessions(server.port, 10) as sessions:
        movers = [
            asyncio.create_task(move_sliders(each, until, number, []))
            for number, each in enumerate(sessions)
        ]
        while time.monotonic() < until:
            sizes.append(server.process.memory_info().rss / 2**20)
            await asyncio.sleep(min(30, max(until - time.monotonic(), 0.1)))
        await asyncio.gather(*movers, *viewers)
    return sizes


def show_soak(sizes: Sequence[float]) -> None:
    """Print the memory over the soak; the first two minutes fill caches."""
    settled = sizes[4:] or sizes
    print("resident MiB every 30 s:", " ".join(f"{size:.0f}" for size in sizes))
    half = len(settled) // 2
    growth = statistics.mean(settled[half:]) - statistics.mean(settled[:half] or settled)
    show("    second half less first half, after 2 minutes", [growth], "MiB", goal="about 0")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the sliders")
    parser.add_argument("--pairs", type=int, default=7, help="of windows with and without viewers")
    parser.add_argument("--window", type=float, default=6.0, help="seconds of one window")
    parser.add_argument("--drag", choices=tuple(DRAGGED), default="serving", help="what is dragged")
    parser.add_argument("--soak", type=float, default=0.0, metavar="MINUTES")
    options = parser.parse_args()
    show_head()
    with cold_server() as server, training() as directory:
        moves, milliseconds = asyncio.run(slide(server, min(options.seconds, MOST_SECONDS)))
        show("30 sessions move a slider every 2 s, a run trains", moves, "ms")
        p95 = statistics.quantiles(moves, n=20)[-1]
        show("    p95 of these", [p95], "ms", goal="< 1500")
        show("    CPU of the server for one move", [milliseconds], "ms")
        pictures, delays = asyncio.run(
            drag(server, min(options.seconds, MOST_SECONDS), DRAGGED[options.drag])
        )
        show(f"30 sessions drag at once: {options.drag}", pictures, "ms")
        p95 = statistics.quantiles(pictures, n=20)[-1]
        show("    p95 of these", [p95], "ms", goal="< 1500")
        p95 = statistics.quantiles(delays, n=20)[-1]
        show("    the live stream meanwhile, p95", [p95], "ms", goal="< 100")
        losses = measure_trainer(server, directory, options.pairs, options.window)
        show("tokens/s that 30 viewers cost the trainer", losses, "%", goal="< 5")
        if options.soak:
            show_soak(asyncio.run(soak(server, options.soak)))


if __name__ == "__main__":
    main()
