"""How long a slider takes to bring its new picture: the real server, a real browser, every lab.

From the press of an arrow key to the last change inside the new chart; the goal is 300 ms for 19
moves in 20. Nothing else may run: the browser that draws shares the cores with the server.
"""

import argparse
import statistics
from typing import TYPE_CHECKING, Final

from benchmarks.start_up import cold_server, launched_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

GOAL: Final = 300  # milliseconds
ADDRESSES: Final = (
    "bit-layouts?bits_tab=designer",
    "low-precision-training?lowp_tab=sums",
    "low-precision-training?lowp_tab=scale",
    "low-precision-training?lowp_tab=pictures",
    "quantization?quant_tab=groups",
    "model-sizes",
    "training-memory",
    "training-memory?memory_tab=items",
    "flops-and-time",
    "flops-and-time?flops_tab=rule",
    "serving",
    "parallelism",
    "what-fits?fits_tab=reach",
)
# A chart that belongs to the new numbers has another text for those who cannot see it.
WATCH: Final = """() => {
  const alt = () => document.querySelector('[role="figure"]')?.getAttribute("aria-label");
  const [old, start] = [alt(), performance.now()];
  window.drawnAfter = null;
  window.drawing?.disconnect();
  window.drawing = new MutationObserver((changes) => {
    const inPlot = changes.some(({ target }) => target.closest?.(".js-plotly-plot"));
    if (inPlot && alt() !== old) window.drawnAfter = performance.now() - start;
  });
  window.drawing.observe(document.body, { subtree: true, childList: true, attributes: true });
}"""
QUIET: Final = 400  # milliseconds without a change: the picture is done
LONGEST: Final = 4000  # a slider at its end brings nothing


def moved(page: "Page", key: str) -> float | None:
    """Press a key on the slider that has the focus; return the milliseconds, None at an end."""
    page.evaluate(WATCH)
    page.keyboard.press(key)
    before: float | None = None
    for _ in range(LONGEST // QUIET):
        page.wait_for_timeout(QUIET)
        after: float | None = page.evaluate("window.drawnAfter")
        if after is not None and after == before:
            return after
        before = after
    return before


def measure(page: "Page", url: str, num_moves: int) -> tuple[str, list[float]]:
    """Return the name of the first slider of a page, and what each of its moves took."""
    page.goto(url)
    page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=60_000)
    page.wait_for_timeout(2000)
    slider = page.locator("[data-testid=stMain]").get_by_role("slider").first
    name = slider.get_attribute("aria-label") or ""
    slider.focus()
    key = "ArrowRight"
    times: list[float] = []
    moved(page, key)  # the first answer of a page fills caches
    while len(times) < num_moves:
        took = moved(page, key)
        if took is None:
            key = "ArrowLeft" if key == "ArrowRight" else "ArrowRight"
        else:
            times.append(took)
    return name, times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=24, help="of each slider")
    num_moves = parser.parse_args().moves
    print(
        f"{'slider to new picture, ms':<64} {'median':>7} {'p95':>7} {'longest':>8} goal < {GOAL}"
    )
    with cold_server() as (port, _seconds), launched_browser() as browser:
        for address in ADDRESSES:
            context = browser.new_context(viewport={"width": 1366, "height": 768})
            name, times = measure(
                context.new_page(), f"http://127.0.0.1:{port}/{address}", num_moves
            )
            context.close()
            p95 = statistics.quantiles(times, n=20)[-1]
            median = statistics.median(times)
            row = f"{address + ': ' + name:<64} {median:>7.0f} {p95:>7.0f} {max(times):>8.0f}"
            print(row, flush=True)


if __name__ == "__main__":
    main()
