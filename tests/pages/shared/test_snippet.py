"""The notebook of a page's code: whole, in cells, with the page's words and link above."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from pages.shared import snippet
from pages.shared.snippet import code_cells, notebook

SOURCE = '''
"""Words."""
rows = 3  # by hand

import torch
from torch import (
    nn,

    optim,
)
def build(size):

    return nn.Linear(size, size)

text = """a

b"""
print(build(rows), text)
'''
PAGE = """
page = Page(
    inputs=d, choose=lambda: d.slider("n", "N", 0, 9, default=3, step=1),
    tabs={"one": Tab(label="One", show=lambda case: Shown(
        headline=f"`a` is **{case}**", code="import core.units\\nprint(3)"))},
    reading=lambda: None)
"""
ASKS = """
from dataclasses import replace
def ask_n():
    predict_then_reveal("d_q", "Which?", [Choice("3"), Choice("4", "no")], "It is 3.")
page = replace(page, question=ask_n)"""
SHOW = "tabbed_page(__file__, 'What is it?', page)"


@pytest.fixture
def leads(monkeypatch):
    """The first cells of the notebooks that pages offer."""
    made, notebook = [], snippet.notebook

    def noted(source, lead):
        made.append(lead)
        return notebook(source, lead)

    monkeypatch.setattr(snippet, "notebook", noted)
    return made


def test_cells_end_between_statements_and_imports_come_first():
    assert code_cells(SOURCE) == [
        "import torch\nfrom torch import (\n    nn,\n\n    optim,\n)",
        '"""Words."""\nrows = 3  # by hand',
        "def build(size):\n\n    return nn.Linear(size, size)",
        'text = """a\n\nb"""\nprint(build(rows), text)',
    ]


def test_a_notebook_is_what_nbformat_asks_for():
    """The fields that nbformat's schema 4.5 requires of a notebook and its cells."""
    told = json.loads(notebook(SOURCE, "# 标题"))
    assert set(told) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (told["nbformat"], told["nbformat_minor"]) == (4, 5)
    assert {"name", "display_name"} <= set(told["metadata"]["kernelspec"])
    assert told["metadata"]["language_info"]["name"] == "python"
    ids = [cell["id"] for cell in told["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", each) for each in ids)
    for cell in told["cells"]:
        fields = {"id", "cell_type", "metadata", "source"}
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == fields | code
        assert isinstance(cell["source"], str)
    assert [cell["cell_type"] for cell in told["cells"]] == ["markdown", *["code"] * 5]
    assert told["cells"][0]["source"] == "# 标题"


def test_the_first_code_cell_says_what_is_to_be_installed():
    def first(source):
        return json.loads(notebook(source, ""))["cells"][1]["source"].splitlines()

    assert first("import numpy.linalg\nfrom torch import nn\nimport json") == [
        "# pip install numpy torch"
    ]
    assert len(first("import math")) == 1
    assert "folder" in first("import torch\nfrom core.units import format_bytes")[1]
    assert "folder" in first('print(open("pages/shared/lessons.toml").read())')[0]


def test_a_reader_who_opens_the_code_may_take_a_notebook_with_the_pages_words(open_script, leads):
    app = open_script(PAGE + SHOW, d_n="4")
    assert not app.get("download_button"), "sent only when it is opened"

    app.session_state["one_code"] = True
    app.run()
    (button,) = app.get("download_button")
    assert button.proto.ignore_rerun
    (lead,) = leads
    assert lead.startswith("# Bits to GPT · One\n\nWhat is it?\n\n**a is 4**\n\n")
    assert lead.endswith("\n- `d_n = 4`"), "what is not as it is by itself"
    link = re.search(r"\]\((.*?)\)", lead).group(1)
    assert parse_qs(urlsplit(link).query)["d_n"] == ["4"]


def test_a_notebook_does_not_tell_what_the_page_still_asks(open_script, leads):
    app = open_script(PAGE + ASKS + "\n" + SHOW, d_predict="true")
    app.session_state["one_code"] = True
    app.run()
    assert "# Bits to GPT" in leads[0]
    assert "a is 3" not in leads[0]
