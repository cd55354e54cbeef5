"""How often a second the picture of moving bytes is painted: 64 devices, in headless Chromium.

    PYTHONPATH=. python benchmarks/moving_bytes.py [--seconds 8]

On the page Parallelism, in the tab Collectives, the milliseconds from one frame to the next while a
collective plays: of an all-reduce, whose links stay, and of an all-to-all, whose links change with
each step. Nothing else may run: browser and server share the cores.
"""

import argparse
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from benchmarks.first_look import opened
from benchmarks.run_directory import show, show_head
from benchmarks.start_up import cold_server, launched_browser
from pages.shared.navigation import page_row

if TYPE_CHECKING:
    from playwright.sync_api import Page

SPLIT: Final = {"parallel_data": 64, "parallel_tensor": 1, "parallel_stages": 1}
CASES: Final = {
    "all-reduce": {"parallel_model": "llama-2-7b", "parallel_zero": "ddp"},
    "all-to-all": {
        "parallel_model": "deepseek-v3",
        "parallel_expert": 64,
        "parallel_collective": "all-to-all-of-tokens",
    },
}
GOAL: Final = "<= 17"
FRAMES: Final = """(seconds) => new Promise((done) => {
  const found = [];
  let before = null;
  const frame = (now) => {
    if (before !== null) found.push(now - before);
    before = now;
    if (found.reduce((sum, each) => sum + each, 0) < 1000 * seconds) requestAnimationFrame(frame);
    else done(found);
  };
  requestAnimationFrame(frame);
})"""


def frames(page: "Page", seconds: float) -> list[float]:
    """Return the milliseconds between two frames, while it plays."""
    page.locator("[data-act=play]").click()
    page.wait_for_timeout(500)
    before = page.locator(".time").input_value()
    found: list[float] = page.evaluate(FRAMES, seconds)
    if page.locator(".time").input_value() == before:
        raise RuntimeError("the picture did not play")
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    address = page_row("plan/parallelism").address
    show_head()
    with cold_server() as (port, _started), launched_browser() as browser:
        for name, settings in CASES.items():
            query = urlencode({"parallel_tab": "moving", **SPLIT, **settings})
            page = opened(
                browser.new_page(viewport={"width": 1366, "height": 768}),
                f"http://127.0.0.1:{port}/{address}?{query}",
            )
            taken = frames(page, options.seconds)
            show(f"{name} of 64 devices: from frame to frame", taken, "ms", goal=GOAL)
            page.close()


if __name__ == "__main__":
    main()
