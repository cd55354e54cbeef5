"""How a memory snapshot of 200 MB is opened: `python benchmarks/snapshot.py`.

The file is made here: steps of a model with stacks of sixty frames, as torch writes them. A browser
sends it; the clock runs from its choice to the picture.
"""

import pickle
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psutil
from measuring import cold_server, launched_browser

MEGABYTES: Final = 200
NUM_STACKS: Final = 500
DEPTH: Final = 60
_MILLISECONDS: Final = 60_000.0  # for the browser to wait


def make(path: Path, megabytes: int) -> int:
    """Write a snapshot of about so many MB; return its events."""
    frames = [{"name": f"f{n}", "filename": f"/a/{n}.py", "line": n} for n in range(DEPTH * 9)]
    stacks = [[frames[(n + 7 * k) % len(frames)] for k in range(DEPTH)] for n in range(NUM_STACKS)]
    events: list[dict[str, Any]] = []
    num_events = megabytes * 10**6 // 323  # bytes of an event, most of them its stack
    while len(events) < num_events:
        layers = [(1 << 40) + (n << 30) for n in range(NUM_STACKS)]
        times = [("alloc", n) for n in range(NUM_STACKS)]
        times += [(a, n) for n in range(NUM_STACKS) for a in ("free_requested", "free_completed")]
        events += [
            {"action": action, "addr": layers[n], "size": 4000 * (n + 1), "stream": 0,
             "time_us": len(events), "compile_context": "N/A", "frames": list(stacks[n])}
            for action, n in times
        ]  # fmt: skip
    block = {"address": 1 << 40, "size": 1 << 30, "state": "inactive", "frames": []}
    segment = {"device": 0, "address": 1 << 40, "total_size": 1 << 30, "blocks": [block]}
    path.write_bytes(pickle.dumps({"segments": [segment], "device_traces": [events]}))
    return len(events)


@contextmanager
def watched(server: psutil.Process) -> Iterator[dict[str, float]]:
    """Give the most MiB of the server and of the process that reads, and the latter's seconds."""
    most, is_over = {"server": 0.0, "reader": 0.0, "CPU": 0.0}, threading.Event()

    def look() -> None:
        while not is_over.wait(0.05):
            with suppress(psutil.Error):  # it has just ended
                most["server"] = max(most["server"], server.memory_info().rss / 2**20)
                for each in server.children():
                    most["reader"] = max(most["reader"], each.memory_info().rss / 2**20)
                    most["CPU"] = max(most["CPU"], sum(each.cpu_times()[:2]))

    watcher = threading.Thread(target=look)
    watcher.start()
    yield most
    is_over.set()
    watcher.join()


def main() -> None:
    """Send the file, and print seconds and memory."""
    with tempfile.TemporaryDirectory() as folder, cold_server() as server, launched_browser() as it:
        path = Path(folder) / "snapshot.pickle"
        num_events, page = make(path, MEGABYTES), it.new_page()
        page.set_default_timeout(_MILLISECONDS)
        print(f"file: {path.stat().st_size / 1e6:.0f} MB, {num_events:,} events")
        page.goto(f"http://127.0.0.1:{server.port}/diagnose?diagnose_tab=snapshot")
        page.locator("input[type=file][hidden]").wait_for(state="attached")
        time.sleep(15)  # until the server has loaded what it loads beside
        before = server.process.memory_info().rss / 2**20
        with watched(server.process) as most:
            begin = time.perf_counter()
            with page.expect_response(
                lambda each: each.request.method == "POST" and "snapshot" in each.url
            ):
                page.locator("input[type=file][hidden]").set_input_files(path)
            answered = time.perf_counter() - begin
            picture = page.locator(".js-plotly-plot .scatterlayer").first
            picture.or_(page.get_by_role("alert")).first.wait_for()
            drawn = time.perf_counter() - begin
        print(f"answer after {answered:.1f} s, goal 10; picture after {drawn:.1f} s, goal 3")
        print(page.locator(".st-key-headline").inner_text())
        print(f"server +{most['server'] - before:.0f} MiB, goal 50")
        print(f"reader {most['reader']:.0f} MiB, goal 1,536, in {most['CPU']:.1f} s of CPU")


if __name__ == "__main__":
    main()
