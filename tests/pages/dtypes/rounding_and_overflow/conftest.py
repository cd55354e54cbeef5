"""A tab of the page, opened through the frame."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages.shared.navigation import page_row

FRAME = Path(__file__).parents[4] / "pages" / "frame.py"


@pytest.fixture
def open_tab():
    """Return open_tab(tab, **query): that tab, run once with that address."""

    def open_one(tab, **query):
        app = AppTest.from_file(str(FRAME), default_timeout=30)
        app._page_hash = calc_hash(page_row("dtypes/rounding_and_overflow").address)
        app.query_params.update({"rounding_tab": tab, **query})
        app.run()
        assert [each.message for each in app.exception] == []
        return app

    return open_one


@pytest.fixture
def texts():
    """Return texts(app): all words of a page that stand in Markdown or below a picture."""
    return lambda app: " ".join(each.value for each in (*app.markdown, *app.caption))


@pytest.fixture
def numbers_of():
    """Return numbers_of(app, key): open the table under that chart and return its rows."""

    def open_table(app, key):
        app.session_state[f"{key}_numbers"] = True
        app.run()
        [table] = app.table
        return [" | ".join(row) for row in table.value.itertuples(index=False)]

    return open_table
