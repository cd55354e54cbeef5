"""How long a reader waits: from the command to a healthy server, and to a painted Home.

The browser that looks at Home runs already and keeps no cache.
"""

import argparse
import time
from typing import TYPE_CHECKING

from benchmarks.measuring import cold_server, launched_browser, show, show_head

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def painted(browser: "Browser", port: int) -> float:
    """Return the seconds until the title of Home is seen."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    begin = time.perf_counter()
    page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
    page.get_by_role("heading", level=1).first.wait_for()
    seconds = time.perf_counter() - begin
    context.close()
    return seconds


def main() -> None:
    """Time several cold starts and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=5)
    healthy, first, second = [], [], []
    with launched_browser() as browser:
        for _ in range(parser.parse_args().starts):
            with cold_server() as server:
                healthy.append(server.seconds)
                first.append(painted(browser, server.port))
                second.append(painted(browser, server.port))
    show_head()
    show("command to healthy server", healthy, "s")
    show("Home painted, first reader of the server", first, "s")
    show("Home painted, second reader", second, "s")


if __name__ == "__main__":
    main()
