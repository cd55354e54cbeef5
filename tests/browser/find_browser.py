"""Print the path of a Chromium or Chrome on this machine; exit 1 where there is none.

Used by `make test`, before it lets Playwright fetch one, and by the browser tests.
"""

import os
import shutil
import sys
from pathlib import Path

# The first has no window of its own, and opens a page with a quarter less work.
COMMANDS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
)


def candidates():
    yield os.environ.get("B2G_BROWSER")
    yield from map(shutil.which, COMMANDS)
    yield from PLACES
    yield fetched_by_playwright()


def fetched_by_playwright():
    from playwright.sync_api import sync_playwright

    os.environ.setdefault("PLAYWRIGHT_BROWSERS_PATH", str(Path(sys.prefix) / "playwright"))
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def find_browser():
    """Return the path of the first browser that exists, or None."""
    return next((path for path in candidates() if path and Path(path).is_file()), None)


if __name__ == "__main__":
    found = find_browser()
    sys.stdout.write(f"{found}\n" if found else "")
    sys.exit(0 if found else 1)
