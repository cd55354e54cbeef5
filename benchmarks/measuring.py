"""What the other programs share: a server of our own, the browser that the tests use, rows."""

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
FINDER = ROOT / "tests" / "browser" / "find_browser.py"


@dataclass(frozen=True, kw_only=True)
class Server:
    """A dashboard of our own, and the seconds until it was healthy."""

    port: int
    process: psutil.Process
    seconds: float


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_healthy(port: int) -> bool:
    """Ask the server whether it is ready."""
    with contextlib.suppress(OSError):
        url = f"http://127.0.0.1:{port}/_stcore/health"
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.read() == b"ok")
    return False


@contextlib.contextmanager
def cold_server(checkout: Path = ROOT) -> Iterator[Server]:
    """Start the server of a checkout, in whose folders programs of this process work too."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.port", str(port), "--server.headless", "true"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"B2G_RUNS_DIR": f"{folder}/runs", "B2G_STATE_DIR": f"{folder}/state"}
        begin = time.perf_counter()
        process = subprocess.Popen(command + options, cwd=checkout, stdout=subprocess.DEVNULL)
        try:
            while not is_healthy(port):
                time.sleep(0.02)
            seconds = time.perf_counter() - begin
            yield Server(port=port, process=psutil.Process(process.pid), seconds=seconds)
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def launched_browser() -> Iterator["Browser"]:
    """Give the browser that the tests use."""
    from playwright.sync_api import sync_playwright

    path = subprocess.run(
        [sys.executable, str(FINDER)], capture_output=True, text=True, check=True
    ).stdout.strip()
    flags = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


def show_head() -> None:
    """Print what the columns of `show` are."""
    print(f"{'':<44} {'median':>10} {'p99':>10} {'':<4} {'samples':>7} goal")


def show(what: str, numbers: Sequence[float], unit: str, *, goal: str = "") -> None:
    """Print one row: median, 99th percentile, number of samples, goal."""
    numbers = sorted(numbers)
    p99 = numbers[min(len(numbers) - 1, int(0.99 * len(numbers)))]
    median = statistics.median(numbers)
    print(f"{what:<44} {median:>10.2f} {p99:>10.2f} {unit:<4} {len(numbers):>7} {goal}", flush=True)
