"""How long a reader waits: from the command to a healthy server, and to a painted Home.

Prints the median, the fastest and the slowest of several cold starts. The browser that looks at
Home runs already and keeps no cache.
"""

import argparse
import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
FINDER = ROOT / "tests" / "browser" / "find_browser.py"


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_healthy(port: int) -> bool:
    """Ask the server whether it is ready."""
    with contextlib.suppress(urllib.error.URLError, ConnectionError):
        url = f"http://127.0.0.1:{port}/_stcore/health"
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.read() == b"ok")
    return False


@contextlib.contextmanager
def cold_server(checkout: Path = ROOT) -> Iterator[tuple[int, float]]:
    """Start the server of a checkout; give its port and the seconds until it was healthy."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.port", str(port), "--server.headless", "true"]
    with tempfile.TemporaryDirectory() as folder:
        own = {"B2G_RUNS_DIR": f"{folder}/runs", "B2G_STATE_DIR": f"{folder}/state"}
        begin = time.perf_counter()
        process = subprocess.Popen(
            command + options, cwd=checkout, env={**os.environ, **own}, stdout=subprocess.DEVNULL
        )
        try:
            while not is_healthy(port):
                time.sleep(0.02)
            yield port, time.perf_counter() - begin
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


@contextlib.contextmanager
def painter() -> Iterator[Callable[[str], float]]:
    """Give a function that opens an address and returns the seconds until its title is seen."""
    with launched_browser() as browser:

        def paint(url: str) -> float:
            context = browser.new_context(viewport={"width": 1366, "height": 768})
            page = context.new_page()
            begin = time.perf_counter()
            page.goto(url, wait_until="commit")
            page.get_by_role("heading", level=1).first.wait_for()
            seconds = time.perf_counter() - begin
            context.close()
            return seconds

        yield paint


def show(name: str, seconds: list[float]) -> None:
    """Print one row."""
    low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
    print(f"{name:<42}{middle:8.2f} s   ({low:.2f} to {high:.2f})")


def main() -> None:
    """Time several cold starts and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=5)
    starts = parser.parse_args().starts
    healthy, painted, again = [], [], []
    with painter() as paint:
        for _ in range(starts):
            with cold_server() as (port, seconds):
                healthy.append(seconds)
                painted.append(paint(f"http://127.0.0.1:{port}/"))
                again.append(paint(f"http://127.0.0.1:{port}/"))
    print(f"{starts} cold starts, median (fastest to slowest)")
    show("command to healthy server", healthy)
    show("Home painted, first reader of the server", painted)
    show("Home painted, second reader", again)


if __name__ == "__main__":
    main()
