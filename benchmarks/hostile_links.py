"""Every setting of every page, one at a time, with what no input accepts: which openings fail?

The suite opens each page with all of them at once (tests/app/test_hostile_links.py); this program
goes through some thousand links and takes many minutes.

    python benchmarks/hostile_links.py [PAGE ...]      pages by key, such as dtypes/quantization
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamlit.logger import set_log_level
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages.shared import accepts
from pages.shared.navigation import PAGES, page_row
from tests.app.test_hostile_links import VALUES

FRAME = Path(__file__).parents[1] / "pages" / "frame.py"
SECONDS = 120
OPTIONS: list[list[str]] = []


def open_page(key: str, query: Mapping[str, str]) -> AppTest:
    """Return a page that has run once with this address."""
    app = AppTest.from_file(str(FRAME), default_timeout=SECONDS)
    app._page_hash = calc_hash(page_row(key).address if key != PAGES[0].key else "")
    app.query_params.update(query)
    return app.run()


def settings_of(key: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yield each setting of a page once, and what opens the tab that has it."""
    met: set[str] = set()
    OPTIONS.clear()
    first = open_page(key, {})
    for tab in tabs_of(first):  # of the page just opened: its options are noted
        for name in open_page(key, tab).session_state["frame_book"].parameters:
            if name not in met:
                met.add(name)
                yield tab, name


def tabs_of(app: AppTest) -> list[dict[str, str]]:
    """Return what opens each tab; of a page without tabs nothing."""
    for each in app.session_state["frame_book"].parameters.values():
        if each.name.endswith("_tab"):
            words = next(words for words in OPTIONS if each.default in words)
            return [{each.name: word} for word in words]
    return [{}]


def note_options() -> None:
    """Keep the options of every choice as it is made: a page shows labels, a link has words."""
    one_of = accepts.one_of

    def noted(choices: Sequence[Any], default: Any) -> accepts.Accepts[Any]:  # noqa: ANN401
        OPTIONS.append([str(each) for each in choices])
        return one_of(choices, default)

    accepts.one_of = noted


def failures(key: str) -> Iterator[tuple[str, str, str]]:
    """Yield each value that ends a page: setting, value, message."""
    for tab, name in settings_of(key):
        for value in VALUES:
            app = open_page(key, {**tab, name: value})
            for each in app.exception:
                yield name, value[:20], str(each.message)


def main() -> None:
    """Print a table of the pages and every opening that failed."""
    set_log_level("ERROR")
    note_options()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["B2G_STATE_DIR"] = os.environ["B2G_RUNS_DIR"] = folder
        for key in sys.argv[1:] or [row.key for row in PAGES]:
            found = list(failures(key))
            print(f"{key:36} {len(found):4} failed", flush=True)
            for name, value, message in found:
                print(f"    {name} = {value!r}: {message}")


if __name__ == "__main__":
    main()
