"""How long a slider takes to bring its new picture: the real server, a real browser, every lab.

From the press of an arrow key to the last change inside the new chart; the goal is 300 ms for 19
moves in 20. Nothing else may run: the browser that draws shares the cores with the server.

`--against CHECKOUT` opens each slider in both checkouts and moves them in turn, pair by pair; it
fails if the 95 % interval of a row's ratio lies wholly above +3 %.
"""

import argparse
import math
import re
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measuring import cold_server, launched_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

GOAL: Final = 300  # milliseconds
# One job in both checkouts, whatever their defaults; older names lead to those of today.
_MODEL: Final = "fits_model=llama-3.1-8b&fits_device=h100-sxm&fits_tokens=4096"
_LENGTHS: Final = "Sequence length|Context length"
# Address, and a pattern of the slider's name: behind "|" what older checkouts called it.
SLIDERS: Final = (
    ("bit-layouts?bits_tab=designer", "Exponent bits"),
    ("low-precision-training?lowp_tab=sums", "Repetitions|How often"),
    ("low-precision-training?lowp_tab=updates", "Steps"),
    ("low-precision-training?lowp_tab=softmax", "Largest logit"),
    ("low-precision-training?lowp_tab=scale", "Loss scale"),
    (
        "low-precision-training?lowp_tab=updates&lowp_update_way=stochastic",
        "Number of weights|^Weights",
    ),
    ("training-memory", "Sequence length|Tokens of a sequence"),
    ("training-memory?memory_tab=items", "Sequence length"),
    ("flops-and-time?flops_tab=components", "Sequence length|Context in tokens"),
    ("flops-and-time?flops_tab=rule", "Sequence length|Context in tokens"),
    ("flops-and-time?flops_tab=roofline", "Concurrent sequences|Sequences at once"),
    ("serving", r"Context length|^Context \(tokens\)"),
    ("serving", "Concurrent sequences|Sequences at once"),
    ("parallelism", "Tensor-parallel size|Tensor ranks"),
    (f"what-fits?fits_tab=reach&fits_work=serve&fits_devices=1&{_MODEL}", _LENGTHS),
    (f"what-fits?fits_tab=reach&fits_work=train&fits_devices=8&{_MODEL}", _LENGTHS),
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


MOST_SLOWER: Final = 0.03  # of the other checkout's time
T_95: Final = 2.093  # Student's t for 20 pairs; for more of them a little too wide


class Slider:
    """A slider in a page of its own, moved to and fro."""

    def __init__(self, browser: "Browser", url: str, name: str) -> None:
        self.what = f"{url}: the slider {name!r}"
        self.page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
        self.page.goto(url)
        self.handle = self.page.get_by_role("slider", name=re.compile(name)).first
        self.handle.wait_for(state="attached", timeout=60_000)
        self.page.wait_for_timeout(3000)
        self.handle.focus()
        self.keys = ["ArrowRight", "ArrowLeft"]
        moved(self.page, self.keys[0])  # the first answer of a page fills caches

    def move(self) -> float:
        """Move once and return the milliseconds to the new picture; turn round at an end."""
        for _ in range(MOST_IN_VAIN):
            place = self.handle.input_value()
            took = moved(self.page, self.keys[0])
            if took is not None:
                return took
            if self.handle.input_value() == place:
                self.keys.reverse()
        raise RuntimeError(f"{self.what} brings no new picture")

    def close(self) -> None:
        """Close the page."""
        self.page.context.close()


def measure(browser: "Browser", url: str, name: str, num_moves: int) -> list[float]:
    """Return what each move of a slider took, in milliseconds."""
    slider = Slider(browser, url, name)
    times = [slider.move() for _ in range(num_moves)]
    slider.close()
    return times


def ratios(browser: "Browser", urls: Sequence[str], name: str, num_pairs: int) -> list[float]:
    """Return, pair by pair, how many times as long a move takes here as in the other checkout."""
    here, there = (Slider(browser, url, name) for url in urls)
    found = []
    for number in range(num_pairs):
        if number % 2:  # who goes first takes turns
            took = here.move()
            found.append(took / there.move())
        else:
            before = there.move()
            found.append(here.move() / before)
    here.close()
    there.close()
    return found


def interval(found: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios and its 95 % interval."""
    logs = [math.log(ratio) for ratio in found]
    middle, half = statistics.fmean(logs), T_95 * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def compare(other: Path, num_pairs: int, only: str) -> bool:
    """Print each slider against another checkout; return whether none is surely slower."""
    print(f"{'new picture, this checkout / ' + other.name:<62} {'ratio':>7} {'95 % interval':>17}")
    slower = []
    with cold_server() as here, cold_server(other) as there, launched_browser() as browser:
        for address, name in (row for row in SLIDERS if only in row[0]):
            urls = [f"http://127.0.0.1:{each}/{address}" for each in (here.port, there.port)]
            mean, low, high = interval(ratios(browser, urls, name, num_pairs))
            row = f"{address}: {name.partition('|')[0]}"
            slower += [row] if low > 1 + MOST_SLOWER else []
            mark = "  slower" if low > 1 + MOST_SLOWER else ""
            print(f"{row:<62} {mean:>7.3f} {low:>8.3f} {high:>8.3f}{mark}", flush=True)
    return not slower


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--moves", type=int, default=24, help="of each slider")
    parser.add_argument("--only", default="", help="addresses that contain this")
    parser.add_argument(
        "--against", type=Path, help="another checkout, moved in turn with this one"
    )
    parser.add_argument("--pairs", type=int, default=20, help="of moves, with --against")
    options = parser.parse_args()
    if options.pairs < 20:
        parser.error("an interval needs 20 pairs or more")
    if options.against:
        sys.exit(not compare(options.against.resolve(), options.pairs, options.only))
    print(f"{'slider to new picture, ms':<62} {'median':>7} {'p95':>7} {'longest':>8}  goal {GOAL}")
    with cold_server() as server, launched_browser() as browser:
        for address, name in SLIDERS:
            if options.only not in address:
                continue
            times = measure(
                browser, f"http://127.0.0.1:{server.port}/{address}", name, options.moves
            )
            p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
            row = f"{statistics.median(times):>7.0f} {p95:>7.0f} {max(times):>8.0f}"
            what = f"{address}: {name.partition('|')[0]}"
            print(f"{what:<62} {row}{'' if p95 < GOAL else '  missed'}", flush=True)


if __name__ == "__main__":
    main()
