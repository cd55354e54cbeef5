"""What the first screen of every page shows, as a table: is the answer first?

    python benchmarks/first_look.py [--present] [PAGE ...]    pages by key, such as budget/serving

Measured at 1366x768 (1024x768 on a projector), in both languages; nothing here is a speed.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.start_up import ROOT, cold_server, launched_browser
from pages.shared.navigation import PAGES
from tests.browser.first_look import first_look

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


def opened(page: "Page", address: str) -> "Page":
    """Open an address and wait until its pictures stand still."""
    page.goto(address)
    page.wait_for_selector("h1", timeout=60_000)
    settle(page)
    return page


def settle(page: "Page") -> None:
    """Wait until nothing is on its way for a second."""
    still = 0
    while still < STILL:
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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--present", action="store_true", help="as it is on a projector")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="of another state of the house")
    parser.add_argument("pages", nargs="*", default=[row.key for row in PAGES])
    options = parser.parse_args()
    present, (width, height) = (1, (1024, 768)) if options.present else (0, (1366, 768))
    addresses = {row.key: "" if row is PAGES[0] else row.address for row in PAGES}
    print(f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|", sep="\n")
    with cold_server(options.checkout) as (port, _started), launched_browser() as browser:
        for key in options.pages:
            for lang in ("en", "zh"):
                page = browser.new_page(viewport={"width": width, "height": height})
                address = f"http://127.0.0.1:{port}/{addresses[key]}?lang={lang}&present={present}"
                print(row_of(opened(page, address), key, lang))
                page.close()


if __name__ == "__main__":
    main()
