"""What a poster bears: what the tab shows, and a link to it as long as there can be one."""

import urllib.parse
from types import SimpleNamespace

import pytest

from pages.server.qr import MAX_CHARS, qr_path
from pages.shared import poster
from pages.shared.link import Parameter

PAGE = """
import plotly.graph_objects as go
from core.budget import Item

def item(amount):
    return Item(name="n", amount=amount, unit="s", low=amount, high=amount, source="us",
                kind="exact")

def bars(case):
    alt = f"One bar with a height of {case}, and nothing else."
    figure = go.Figure(go.Bar(x=["a"], y=[case]))
    picture = Picture(figure=figure, alt=alt, table={"a": [case]})
    return Shown(headline=f"`a` is **{case}**", charts=[Chart(picture=picture, file_name="bars")],
                 numbers=[(f"`n{n}`", item(n)) for n in range(1, 8)])

def late():
    d.text("late", "Late", default="1 + 2")
    if BEYOND:
        link.book().beyond = BEYOND

tabbed_page(__file__, "What?", Page(
    inputs=d, tabs={"one": Tab(label="One", show=bars)}, reading=late,
    choose=lambda: d.slider("n", "N", 0, 9, default=3, step=1)))
"""


@pytest.fixture
def posters(open_script, monkeypatch):
    """Return posters(beyond, is_open, asked, **query): what the page offers as posters."""

    def go(beyond="", *, is_open=True, asked=True, **query):
        offered = []
        monkeypatch.setattr(poster, "poster_menu", offered.append)
        app = open_script(f"BEYOND = {beyond!r}\n{PAGE}", **query)
        assert offered == []  # nothing is made for files that nobody sees
        app.session_state["d_one_chart_numbers"] = is_open
        app.session_state["d_one_chart_poster_asked"] = asked
        app.run()
        return offered

    return go


def test_it_bears_the_sentence_five_numbers_and_a_link_with_every_setting(posters):
    (made,) = posters(d_n="7")
    assert (made.chart, made.file_name, made.headline) == ("d_one_chart", "bars", "a is 7")
    assert made.title.endswith("One")
    assert made.numbers == [(f"n{n}", poster.written(n, "s")) for n in range(1, 6)]
    asked = urllib.parse.parse_qs(urllib.parse.urlsplit(made.link).query)
    assert (asked["d_n"], asked["d_late"], asked["lang"]) == (["7"], ["1 + 2"], ["en"])
    path, size = qr_path(made.link)
    assert made.code == {"path": path, "size": size}
    assert not made.code_waits


def test_its_code_is_made_once_somebody_asks_for_the_poster(posters):
    (made,) = posters(asked=False)
    assert (made.code, made.code_waits) == (None, True)


@pytest.mark.parametrize("hide", ["poster", "d_poster"])
def test_a_link_can_hide_it_and_a_closed_list_of_files_has_none(posters, hide):
    assert posters(hide=hide) == []
    assert posters(is_open=False) == []


def test_a_state_that_no_link_carries_says_so_and_has_no_code(posters):
    (made,) = posters(beyond="Too large for a link.")
    assert (made.link, made.code, made.code_waits) == ("Too large for a link.", None, False)


def test_a_link_too_long_for_a_code_says_so(posters):
    (made,) = posters(d_late="长" * (MAX_CHARS // 9))
    assert "too long" in made.link
    assert made.code is None


def test_while_the_answer_waits_it_keeps_silent(posters, monkeypatch):
    monkeypatch.setattr("pages.shared.tabbed_page.answer_waits", lambda: True)
    (made,) = posters()
    assert (made.headline, list(made.numbers)) == ("", [])


@pytest.mark.parametrize(
    ("here", "link"),
    [
        ("http://localhost:8501/serving", "http://192.168.1.34:8501/serving?a=x+y"),
        ("http://gpu.lan/app/serving", "http://gpu.lan/app/serving?a=x+y"),
    ],
)
def test_in_a_class_it_names_the_address_that_others_reach(monkeypatch, here, link):
    monkeypatch.setattr(poster, "in_class", lambda: True)
    monkeypatch.setattr(poster, "class_address", lambda: "http://192.168.1.34:8501")
    monkeypatch.setattr(poster, "st", SimpleNamespace(context=SimpleNamespace(url=here)))
    settings = (
        Parameter(name="a", value="x y", default=""), Parameter(name="b", value="", default=""),
    )  # fmt: skip
    monkeypatch.setattr(poster.link, "parameters", lambda: settings)
    assert poster.full_link() == link


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("**12 GiB** in `int8_channel`: 2 * 3 * 4", "12 GiB in int8_channel: 2 * 3 * 4"),
        (r":gray[exact] \$5 \~ `a*b`, see [there](x)", "exact $5 ~ a*b, see there"),
        ("从 `float32` 到 **bf16**", "从 float32 到 bf16"),
    ],
)
def test_a_poster_has_words_and_no_marks_of_markdown(text, words):
    assert poster.plain(text) == words
