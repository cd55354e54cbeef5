"""What axe finds on every tab of every page against WCAG 2.2, levels A and AA, in both themes.

    python benchmarks/barriers.py [PAGE ...]       pages by key, such as plan/serving

The suite asks it of each page as it opens (tests/browser/test_every_page.py); nothing is a speed.
"""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe

from benchmarks.first_look import opened, settle
from benchmarks.start_up import cold_server, launched_browser
from pages.shared.navigation import PAGES
from tests.browser.test_every_page import WCAG

if TYPE_CHECKING:
    from playwright.sync_api import Page

PLACE_OF_TABS = ".st-key-page_tabs"


def tabs_of(page: "Page") -> Iterator[str]:
    """Open every tab of a page, those of the menu too; yield their names."""
    yield "as it opens"
    row = page.locator(f"{PLACE_OF_TABS} [role=radio]")
    for number in range(1, row.count()):
        row.nth(number).click()
        settle(page)
        yield row.nth(number).inner_text()
    menu = page.locator(f"{PLACE_OF_TABS} [data-testid=stMenuButton] button")
    for name in entries(page):  # the one that is open has left the menu
        menu.click()
        page.get_by_role("menuitem", name=name, exact=True).click()
        settle(page)
        yield name


def entries(page: "Page") -> list[str]:
    """Return the names of the tabs in the menu."""
    menu = page.locator(f"{PLACE_OF_TABS} [data-testid=stMenuButton] button")
    if not menu.count():
        return []
    menu.click()
    listed = page.get_by_role("menuitem")
    listed.first.wait_for()
    names = listed.all_inner_texts()
    page.keyboard.press("Escape")
    return names


def violations(page: "Page") -> list[dict[str, Any]]:
    """Return what axe finds."""
    found: list[dict[str, Any]] = Axe().run(page, options=WCAG).response["violations"]
    return found


def main() -> None:
    """Print what was found; fail if anything was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", default=[row.key for row in PAGES])
    total = num_views = 0
    addresses = {row.key: "" if row is PAGES[0] else row.address for row in PAGES}
    with cold_server() as (port, _started), launched_browser() as browser:
        for key in parser.parse_args().pages:
            page = browser.new_page(
                viewport={"width": 1366, "height": 768}, reduced_motion="reduce"
            )
            opened(page, f"http://127.0.0.1:{port}/{addresses[key]}")
            for tab in tabs_of(page):
                for theme in ("light", "dark"):
                    page.emulate_media(color_scheme=theme)
                    settle(page)
                    found = violations(page)
                    num_views += 1
                    total += len(found)
                    for each in found:
                        nodes = [node["html"][:120] for node in each["nodes"][:3]]
                        print(f"{key} · {tab} · {theme}: {each['id']} {nodes}", flush=True)
            page.close()
    print(f"{num_views} views, {total} violations")
    if total:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
