"""What the first screen of every page shows, as a table: is the answer first?

    python benchmarks/first_look.py [--present] [PAGE ...]    pages by key, such as plan/serving
    python benchmarks/first_look.py --size 390x844 --size 768x1024 --tabs --dark --axe [PAGE ...]

Measured at 1366x768 (1024x768 on a projector), in both languages; nothing here is a speed.
With `--size` a row says what is wrong with a whole page on that narrow screen.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from benchmarks.measuring import ROOT, cold_server, launched_browser
from pages.shared.navigation import PAGES
from tests.browser.first_look import barriers, first_look, narrow_look

if TYPE_CHECKING:
    from playwright.sync_api import Page

STILL = 10  # tenths of a second for which nothing may be on its way
SETTLED = """() => {
  const none = (name) => document.querySelector(name) === null;
  const charts = [...document.querySelectorAll(".stPlotlyChart")];
  return !none("[data-test-script-state=notRunning]") && none("[data-testid=stSkeleton]")
    && none("[data-testid=stSpinner]") && charts.every((each) => each.querySelector(".main-svg"));
}"""
COLUMNS = ("page", "lang", "top", "seen", "headline", "largest other", "tabs", "controls", "cut")
NARROW_COLUMNS = ("page", "tab", "lang", "size", "theme", "top", "picture", "faults")
ROW = ".st-key-page_tabs [role=radio]"


def opened(page: "Page", address: str) -> "Page":
    """Open an address and wait until its pictures stand still."""
    page.goto(address)
    page.wait_for_selector("h1", timeout=60_000)
    settle(page)
    return page


def settle(page: "Page", enough: int = STILL) -> None:
    """Wait until nothing is on its way for a second, or other tenths of one."""
    still = 0
    while still < enough:
        page.wait_for_timeout(100)
        still = still + 1 if page.evaluate(SETTLED) else 0


def row_of(page: "Page", key: str, lang: str) -> str:
    """Return one line of the table."""
    look = first_look(page)
    top = "-" if look.picture_top is None else str(look.picture_top)
    headline = f"{look.headline_px:g} px, {look.headline_lines} lines"
    cells = (
        key, lang, top, f"{look.picture_seen:.0%}", headline, f"{look.largest_other[0]:g} px",
        str(look.num_tabs), str(look.num_controls), str(len(look.cut) + len(look.two_lines)),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def open_tabs(page: "Page") -> Iterator[str]:
    """Open one tab after the other, yield its word in the address."""

    def word() -> str:
        settle(page, 6)
        query = dict(parse_qsl(urlsplit(page.url).query))
        return next((value for name, value in query.items() if name.endswith("_tab")), "")

    yield word()
    for place in range(1, page.locator(ROW).count()):
        page.locator(ROW).nth(place).click()
        yield word()


def narrow_rows(page: "Page", key: str, lang: str, options: argparse.Namespace) -> Iterator[str]:
    """Yield a line for each tab, size and theme that was asked for."""
    for tab in open_tabs(page) if options.tabs else [""]:
        for size in options.size:
            width, height = size.split("x")
            page.set_viewport_size({"width": int(width), "height": int(height)})
            page.wait_for_timeout(700)  # pictures follow the width with a delay of their own
            for theme in ("light", "dark") if options.dark else ("light",):
                page.emulate_media(color_scheme=theme)
                settle(page, 5)
                look = narrow_look(page)
                faults = [*look.faults(), *(barriers(page) if options.axe else [])]
                share = "-" if look.top is None else f"{look.share:.0%}"
                told = "; ".join(map(str, faults)).replace("\n", " ").replace("|", "/") or "-"
                cells = (key, tab, lang, size, theme, str(look.top), share, told)
                yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--present", action="store_true", help="as it is on a projector")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="another one than this")
    parser.add_argument("--size", action="append", help="of a narrow screen, such as 390x844")
    parser.add_argument("--tabs", action="store_true", help="every tab on a narrow screen")
    parser.add_argument("--dark", action="store_true", help="in both themes on a narrow screen")
    parser.add_argument("--axe", action="store_true", help="what axe finds on a narrow screen")
    parser.add_argument("pages", nargs="*", default=[row.key for row in PAGES])
    options = parser.parse_args()
    present, (width, height) = (1, (1024, 768)) if options.present else (0, (1366, 768))
    if options.size:
        width, height = map(int, options.size[0].split("x"))
    addresses = {row.key: "" if row is PAGES[0] else row.address for row in PAGES}
    columns = NARROW_COLUMNS if options.size else COLUMNS
    print(f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", sep="\n")
    with cold_server(options.checkout) as server, launched_browser() as browser:
        for key in options.pages:
            for lang in ("en", "zh"):
                page = browser.new_page(viewport={"width": width, "height": height})
                address = (
                    f"http://127.0.0.1:{server.port}/{addresses[key]}?lang={lang}&present={present}"
                )
                opened(page, address)
                rows = (
                    narrow_rows(page, key, lang, options)
                    if options.size
                    else [row_of(page, key, lang)]
                )
                for row in rows:
                    print(row, flush=True)
                page.close()


if __name__ == "__main__":
    main()
