"""A small page of our own, opened through the real frame."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.server import rate
from pages.shared import lessons, navigation
from pages.shared.navigation import PageRow

FRAME = Path(__file__).parents[2] / "pages" / "frame.py"
ROWS = (PageRow("demo/one", "One"), PageRow("demo/two", "Two"))
IMPORTS = """
import streamlit as st
from core.figures.picture import Picture
from pages.shared import link
from pages.shared.charts import show_chart
from pages.shared.answer import headline
from pages.shared.header import page_header
from pages.shared.inputs import Inputs
from pages.shared.job import run_job
from pages.shared.answer import explained_number
from pages.shared.prose import prose
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import locked, look
from pages.shared.snippet import show_code
from pages.shared.tabbed_page import Chart, Page, Shown, Tab, tabbed_page
d = Inputs("d")
"""


@pytest.fixture(autouse=True)
def fresh_browser():
    """All sessions of AppTest bear one name: let each test begin as a browser that did nothing."""
    rate.turns.clear()


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A folder with two pages and no lessons, which the frame takes for its own."""
    monkeypatch.setattr(navigation, "PAGES_FOLDER", tmp_path)
    monkeypatch.setattr(navigation, "PAGES", ROWS)
    monkeypatch.setitem(navigation.SECTIONS, "demo", "Start")
    monkeypatch.setattr(lessons, "LESSONS_FILE", tmp_path / "lessons.toml")
    (tmp_path / "lessons.toml").write_text("", encoding="utf-8")
    for row in ROWS:
        row.file.parent.mkdir(parents=True)
        row.file.write_text(f'"""Which page is {row.title}?"""', encoding="utf-8")
    yield tmp_path
    lessons.load_lessons.cache_clear()


@pytest.fixture
def open_script(house):
    """Return open_script(source, **query): a page of this source, run once with that address."""

    def open_one(source, **query):
        ROWS[0].file.write_text(IMPORTS + source, encoding="utf-8")
        app = AppTest.from_file(str(FRAME), default_timeout=30)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert [each.message for each in app.exception] == []
        return app

    return open_one


@pytest.fixture
def said():
    """Return said(app): every caption on the page, for the sentences of the frame."""
    return lambda app: [caption.value for caption in app.caption]
