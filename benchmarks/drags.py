"""Do the sliders follow the hand? Every slider of every page, dragged for two seconds.

    python benchmarks/drags.py [--checkout CHECKOUT] [PAGE ...]     pages by key: plan/serving

For each slider: how many different pictures a drag over its whole length shows (a page without a
chart: headlines), how long after the hand the last one came, and whether the value at the end is
that of a click at the same place. Nothing else may run: browser and server share the cores.
"""

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.first_look import opened
from benchmarks.start_up import ROOT, cold_server, launched_browser
from pages.shared.navigation import PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect, Locator, Page

SECONDS: Final = 2.0
MOVES: Final = 60
LEAST: Final = 6
THUMB, TRACK = 2, 3  # as many elements above the slider's own input
SLIDER: Final = "[data-testid=stSlider]"
# What is seen, once a frame: the answer, the numbers and the lines of the first picture.
WATCH: Final = """() => {
  const words = ".st-key-headline, [data-testid=stMetricValue]";
  const sign = () => [...[...document.querySelectorAll(words)].map((each) => each.textContent),
    document.querySelector(".js-plotly-plot .main-svg")?.innerHTML,
    ...[...document.querySelectorAll("[class*=st-key-bits_] *")].map(
      (each) => each.shadowRoot?.textContent)].join();
  const seen = window.seen = { last: sign(), count: 0, when: performance.now() };
  const look = () => {
    const now = sign();
    if (now !== seen.last)
      Object.assign(seen, { last: now, count: seen.count + 1, when: performance.now() });
    if (window.seen === seen) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
CURVE_SECONDS: Final = 5
CURVE: Final = """(document.querySelector("[data-chart=loss] .live-plot")?.data
  ?.find((trace) => trace.meta.role === "training")?.x.length ?? 0)"""
WATCH_CURVE: Final = f"""() => new Promise((done) => {{
  const began = performance.now(), gaps = [];
  let [last, when] = [{CURVE}, began];
  const look = (now) => {{
    if ({CURVE} !== last) {{ gaps.push(now - when); [last, when] = [{CURVE}, now]; }}
    if (now - began < {CURVE_SECONDS * 1000}) requestAnimationFrame(look); else done(gaps);
  }};
  requestAnimationFrame(look);
}})"""
IDLE: Final = "() => document.querySelector('[data-test-script-state=notRunning]') !== null"


def tabs_of(page: "Page") -> list[str]:
    """Return the names of the tabs of a page; of one without tabs an empty name."""
    return page.locator(".st-key-page_tabs [role=radio]").all_inner_texts() or [""]


def sliders_of(page: "Page") -> Iterator["Locator"]:
    """Yield the sliders in sight that can be moved."""
    for number in range(page.locator(f"{SLIDER}:visible").count()):
        slider = page.locator(f"{SLIDER}:visible").nth(number)
        if slider.locator("input[type=range]").first.is_enabled():
            yield slider


def settled(page: "Page") -> None:
    """Wait until the page stands still."""
    page.wait_for_timeout(150)
    while not page.evaluate(IDLE):
        page.wait_for_timeout(20)
    page.wait_for_timeout(150)


def value_of(slider: "Locator") -> str:
    """Return what a slider says."""
    return str(slider.locator("input[type=range]").first.input_value())


def box_of(slider: "Locator", above: int) -> "FloatRect":
    """Return where the element lies that many above the slider's own input."""
    path = "/".join([".."] * above)
    box = slider.locator("input[type=range]").first.locator(f"xpath={path}").bounding_box()
    if box is None:
        raise LookupError("a slider in sight has no thumb, or no track")
    return box


def dragged(page: "Page", slider: "Locator") -> tuple[int, float, bool]:
    """Drag a slider to its end and back to three quarters; return pictures, delay and truth."""
    thumb, track = box_of(slider, THUMB), box_of(slider, TRACK)
    y = thumb["y"] + thumb["height"] / 2
    places = [track["x"] + track["width"] * (0.02 + 0.96 * step / MOVES) for step in range(MOVES)]
    end = track["x"] + track["width"] * 0.75
    page.mouse.move(thumb["x"] + thumb["width"] / 2, y)
    page.evaluate(WATCH)
    page.mouse.down()
    for place in [*places, end]:
        page.mouse.move(place, y)
        page.wait_for_timeout(SECONDS / MOVES * 1000)
    page.mouse.up()
    released = page.evaluate("performance.now()")
    settled(page)
    seen = page.evaluate("window.seen")
    last = value_of(slider)
    for place in (places[0], end):
        thumb = box_of(slider, THUMB)  # the page may have moved below a longer sentence
        page.mouse.click(place, thumb["y"] + thumb["height"] / 2)
        settled(page)
    return int(seen["count"]), max(0.0, float(seen["when"]) - released), value_of(slider) == last


def rows(browser: "Browser", url: str, keys: list[str]) -> Iterator[tuple[str, int, float, bool]]:
    """Yield a name, pictures, milliseconds and truth of every slider."""
    addresses = {row.key: "" if row is PAGES[0] else row.address for row in PAGES}
    for key in keys:
        page = opened(
            browser.new_page(viewport={"width": 1366, "height": 768}), f"{url}/{addresses[key]}"
        )
        for number, tab in enumerate(tabs_of(page)):
            if tab:
                page.locator(".st-key-page_tabs [role=radio]").nth(number).click()
                settled(page)
            for slider in sliders_of(page):
                label = slider.locator("[data-testid=stWidgetLabel]").first.inner_text()
                yield f"{key} · {tab} · {label}", *dragged(page, slider)
        page.close()


def curve_line(browser: "Browser", url: str) -> str:
    """Return how often the loss curve of a fresh server's recorded run is drawn anew."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(f"{url}/live-run")
    while not page.evaluate(f"() => {CURVE} > 1"):
        page.wait_for_timeout(20)
    gaps = page.evaluate(WATCH_CURVE)
    page.close()
    rate, middle = len(gaps) / CURVE_SECONDS, statistics.median(gaps)
    return f"the live curve: {rate:.1f} drawings a second, median gap {middle:.0f} ms"


def main() -> None:
    """Print the table; fail where a slider ends elsewhere than a click."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="another state of the house")
    parser.add_argument("pages", nargs="*", default=[row.key for row in PAGES])
    options = parser.parse_args()
    counts, wrong = [], []
    print("| slider | pictures in 2 s | last, ms after the hand | as a click |\n|---|---|---|---|")
    with cold_server(options.checkout) as (port, _started), launched_browser() as browser:
        for name, count, delay, same in rows(browser, f"http://127.0.0.1:{port}", options.pages):
            print(f"| {name} | {count} | {delay:.0f} | {'yes' if same else 'NO'} |", flush=True)
            counts.append(count)
            wrong += [] if same else [name]
        print(curve_line(browser, f"http://127.0.0.1:{port}"), flush=True)
    few = sum(count < LEAST for count in counts)
    print(
        f"{len(counts)} sliders, median {statistics.median(counts):g} pictures, {few} below {LEAST}"
    )
    if wrong:
        raise SystemExit(f"ends elsewhere than a click: {wrong}")


if __name__ == "__main__":
    main()
