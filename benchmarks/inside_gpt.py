"""How long a reader waits for the inside of a GPT: from a key, or a step, to the new picture.

    python benchmarks/inside_gpt.py [--checkout CHECKOUT] [--times 40]

Of the page Inside GPT with the shipped model, in a browser: from a key typed into the text, and
from one press of an arrow key on the slider of steps, to the frame in which the new picture is
painted; and how many pictures a drag over all steps shows in two seconds.
Nothing else may run: browser and server share the cores.
"""

import argparse
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Final

from benchmarks.drags import LEAST, SLIDER, dragged
from benchmarks.first_look import opened
from benchmarks.run_directory import show, show_head
from benchmarks.start_up import ROOT, cold_server, launched_browser
from benchmarks.tensor_maps import waited
from pages.shared.navigation import page_row

if TYPE_CHECKING:
    from playwright.sync_api import Page

TYPED: Final = "ression is what the statement returns when it is called and what it is "
GOAL: Final = "< 300"
# The time of a key that changes something, and of the frame after the picture was built anew.
WATCH: Final = """() => {
  const host = document.querySelector(".st-key-inside_picture");
  const roots = [host, ...[...host.querySelectorAll("*")].map((each) => each.shadowRoot)];
  const panels = roots.filter(Boolean).map((each) => each.querySelector(".panels")).find(Boolean);
  const seen = window.seen = { began: 0, taken: 0 };
  const begin = () => Object.assign(seen, { began: performance.now(), taken: 0 });
  addEventListener("keydown", begin, true);
  const painted = () => { seen.taken ||= performance.now() - seen.began; };
  new MutationObserver(() => requestAnimationFrame(() => setTimeout(painted)))
    .observe(panels, { childList: true });
}"""


def keystrokes(page: "Page", times: int) -> list[float]:
    """Return the milliseconds of each typed letter."""
    page.locator(".text").focus()
    page.keyboard.press("Control+End")
    found = []
    for number in range(times):
        page.keyboard.press(TYPED[number % len(TYPED)].replace(" ", "Space"))
        found.append(waited(page))
    return found


def steps(page: "Page", times: int) -> list[float]:
    """Return the milliseconds of each move to the step before and back."""
    slider = page.locator(f"{SLIDER} input[type=range]:visible").first
    slider.focus()
    found = []
    for number in range(times):
        slider.press("ArrowRight" if number % 2 else "ArrowLeft")
        found.append(waited(page))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="another state of the house")
    parser.add_argument("--times", type=int, default=40)
    options = parser.parse_args()
    show_head()
    with cold_server(options.checkout) as (port, _started), launched_browser() as browser:
        page = opened(
            browser.new_page(viewport={"width": 1366, "height": 768}),
            f"http://127.0.0.1:{port}/{page_row('models/inside_gpt').address}",
        )
        page.evaluate(WATCH)
        for name, measure in (("key", keystrokes), ("step", steps)):
            taken = measure(page, options.times)
            show(f"a {name} to the new picture", taken, "ms")
            show("    p95 of these", [quantiles(taken, n=20)[-1]], "ms", goal=GOAL)
        count, _delay, is_true = dragged(page, page.locator(f"{SLIDER}:visible").first)
        show("pictures of a drag over all steps in 2 s", [count], "", goal=f">= {LEAST}")
        print(f"the drag ends where a click would: {is_true}")


if __name__ == "__main__":
    main()
