"""How long a reader waits for a tensor map: from a changed program or a slider to the new picture.

    python benchmarks/tensor_maps.py [--checkout CHECKOUT] [--times 20]

Of the page Strides and views, in a browser, with 1,024 cells: from Ctrl + Enter in the program, and
from one press of an arrow key on a slider, to the frame in which the new picture is painted.
Nothing else may run: browser and server share the cores.
"""

import argparse
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from benchmarks.drags import settled
from benchmarks.first_look import opened
from benchmarks.run_directory import show, show_head
from benchmarks.start_up import ROOT, cold_server, launched_browser
from pages.shared.navigation import page_row

if TYPE_CHECKING:
    from playwright.sync_api import Page

LENGTH: Final = 32  # of both dimensions of x: 1,024 cells
PROGRAMS: Final = ("x.t()", "x.view(16, 64)")
GOAL: Final = "< 300"
# The time of the key that changes something, and of the frame after the picture was built anew.
WATCH: Final = """() => {
  const host = document.querySelector(".st-key-strides_map");
  const roots = [...host.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean);
  const picture = [host, ...roots].map((each) => each.querySelector(".picture")).find(Boolean);
  const seen = window.seen = { began: 0, taken: 0 };
  const begin = () => { Object.assign(seen, { began: performance.now(), taken: 0 }); };
  addEventListener("keydown", (event) => event.key !== "Control" && begin(), true);
  const painted = () => { seen.taken ||= performance.now() - seen.began; };
  const built = () => requestAnimationFrame(() => setTimeout(painted));
  new MutationObserver(built).observe(picture, { childList: true });
}"""
TAKEN: Final = "window.seen.taken"


def waited(page: "Page") -> float:
    """Return the milliseconds from the last key to the new picture."""
    while not (taken := page.evaluate(TAKEN)):
        page.wait_for_timeout(10)
    settled(page)
    return float(taken)


def programs(page: "Page", times: int) -> list[float]:
    """Return the milliseconds of each changed program."""
    field = page.locator(".stTextArea textarea:visible").first
    found = []
    for turn in range(times):
        field.fill(PROGRAMS[(turn + 1) % len(PROGRAMS)])
        field.press("Control+Enter")
        found.append(waited(page))
    return found


def slider_moves(page: "Page", times: int) -> list[float]:
    """Return the milliseconds of each move to the length that makes 1,024 cells."""
    slider = page.locator("[data-testid=stSlider] input[type=range]:visible").first
    slider.focus()
    found = []
    for _ in range(times):
        slider.press("ArrowLeft")
        waited(page)
        slider.press("ArrowRight")
        found.append(waited(page))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="another state of the house")
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    query = {"strides_rows": LENGTH, "strides_columns": LENGTH, "strides_code": PROGRAMS[0]}
    path = f"{page_row('tensors/strides_and_views').address}?{urlencode(query)}"
    show_head()
    with cold_server(options.checkout) as (port, _started), launched_browser() as browser:
        page = opened(
            browser.new_page(viewport={"width": 1366, "height": 768}),
            f"http://127.0.0.1:{port}/{path}",
        )
        page.evaluate(WATCH)
        for name, measure in (("program", programs), ("slider", slider_moves)):
            taken = measure(page, options.times)
            show(f"a changed {name} to the new map, 1,024 cells", taken, "ms")
            show("    p95 of these", [quantiles(taken, n=20)[-1]], "ms", goal=GOAL)


if __name__ == "__main__":
    main()
