"""How long a slider takes to bring its new picture: the real server, a real browser, every lab.

From the press of an arrow key to the last change inside the new chart; the goal is 300 ms for 19
moves in 20. Nothing else may run: the browser that draws shares the cores with the server.
"""

import argparse
import statistics
from typing import TYPE_CHECKING, Final

from benchmarks.start_up import cold_server, launched_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

GOAL: Final = 300  # milliseconds
SLIDERS: Final = (
    ("bit-layouts?bits_tab=designer", "Exponent bits"),
    ("low-precision-training?lowp_tab=sums", "How often"),
    ("low-precision-training?lowp_tab=updates", "Steps"),
    ("low-precision-training?lowp_tab=softmax", "Largest logit"),
    ("low-precision-training?lowp_tab=scale", "Loss scale"),
    ("low-precision-training?lowp_tab=stochastic", "Weights"),
    ("low-precision-training?lowp_tab=matmul", "Inner dimension K"),
    ("low-precision-training?lowp_tab=pictures", "Brightness is multiplied by"),
    ("model-sizes", "Parameters"),
    ("training-memory", "Micro-batch size"),
    ("training-memory", "Tokens of a sequence"),
    ("training-memory?memory_tab=items", "Micro-batch size"),
    ("flops-and-time", "Context in tokens"),
    ("flops-and-time?flops_tab=rule", "Context in tokens"),
    ("flops-and-time?flops_tab=roofline", "Sequences at once"),
    ("serving", "Context (tokens)"),
    ("serving", "Sequences at once"),
    ("parallelism", "Tensor ranks"),
    ("what-fits?fits_tab=reach", "Devices"),
)
# Streamlit makes a new chart for new numbers; the picture is done at the last change inside it. The
# designer draws no chart: there the headline says that the numbers are new.
WATCH: Final = """() => {
  const drawn = document.querySelector(".js-plotly-plot") !== null;
  const [area, sign] = drawn
    ? [".js-plotly-plot", () => document.querySelector(".js-plotly-plot")]
    : ["[data-testid=stMain]", () => document.querySelector(".st-key-headline").textContent];
  const [old, start] = [sign(), performance.now()];
  window.drawnAfter = null;
  window.drawing?.disconnect();
  window.drawing = new MutationObserver((changes) => {
    const inArea = changes.some(({ target }) => target.closest?.(area));
    if (inArea && sign() !== old) window.drawnAfter = performance.now() - start;
  });
  window.drawing.observe(document.body, { subtree: true, childList: true, attributes: true });
}"""
QUIET: Final = 400  # milliseconds without a change: the picture is done
LONGEST: Final = 2000  # a slider at its end, or one whose picture stays the same, brings nothing
MOST_IN_VAIN: Final = 20


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


def measure(browser: "Browser", url: str, name: str, num_moves: int) -> list[float]:
    """Return what each move of a slider took, in milliseconds."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    page.goto(url)
    slider = page.get_by_role("slider", name=name).first
    slider.wait_for(state="attached", timeout=60_000)
    page.wait_for_timeout(3000)
    slider.focus()
    keys = ["ArrowRight", "ArrowLeft"]
    times: list[float] = []
    num_in_vain = 0
    moved(page, keys[0])  # the first answer of a page fills caches
    while len(times) < num_moves:
        place = slider.input_value()
        took = moved(page, keys[0])
        num_in_vain = num_in_vain + 1 if took is None else 0
        if num_in_vain == MOST_IN_VAIN:
            raise RuntimeError(f"{url}: the slider {name!r} brings no new picture")
        if took is not None:
            times.append(took)
        elif slider.input_value() == place:
            keys.reverse()
    context.close()
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=24, help="of each slider")
    parser.add_argument("--only", default="", help="addresses that contain this")
    options = parser.parse_args()
    print(f"{'slider to new picture, ms':<62} {'median':>7} {'p95':>7} {'longest':>8}  goal {GOAL}")
    with cold_server() as (port, _seconds), launched_browser() as browser:
        for address, name in SLIDERS:
            if options.only not in address:
                continue
            times = measure(browser, f"http://127.0.0.1:{port}/{address}", name, options.moves)
            p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
            row = f"{statistics.median(times):>7.0f} {p95:>7.0f} {max(times):>8.0f}"
            print(
                f"{address + ': ' + name:<62} {row}{'' if p95 < GOAL else '  missed'}", flush=True
            )


if __name__ == "__main__":
    main()
