"""The table of lessons: what a row needs, and what is said when it is wrong."""

import pytest

from core.language import install_provider
from pages.shared import lessons

ROW = """
[[lesson]]
slug = "{slug}"
page = "{page}"
query = {{ {query} }}
title = {{ en = "Title", zh = "题目" }}
headline = {{ en = "{headline}", zh = "1" }}
source = "counted"
concepts = ["C156"]
prerequisites = [{needs}]
level = {level}
"""
GOOD = {"slug": "a", "page": "start/home", "query": "", "headline": "1", "needs": "", "level": 1}


def table(tmp_path, *rows, extra=""):
    path = tmp_path / "lessons.toml"
    text = "".join(ROW.format(**{**GOOD, **row}) for row in rows)
    path.write_text(text + extra, encoding="utf-8")
    return lessons.read_lessons(path)


def test_a_row_becomes_a_lesson(tmp_path):
    (lesson,) = table(tmp_path, {"query": 'home_card = "stack"'})
    assert (lesson.slug, lesson.page, lesson.concepts) == ("a", "start/home", ("C156",))
    assert lesson.query == {"home_card": "stack"}


def test_words_are_in_the_readers_language(tmp_path):
    (lesson,) = table(tmp_path, {})
    assert lessons.in_language(lesson.title) == "Title"
    install_provider(lambda: "zh")
    assert lessons.in_language(lesson.title) == "题目"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"slug": "Not A Slug"}, r"lesson 1 \(Not A Slug\): the slug may hold"),
        (
            {"page": "start/nowhere"},
            "page 'start/nowhere' does not exist; the pages are: start/home",
        ),
        ({"level": 4}, r"level 4 must be one of \(1, 2, 3\)"),
        ({"query": "n = 7"}, "every query value must be a text"),
        ({"headline": "("}, "headline '\\(' is no pattern"),
        ({"needs": '"nobody"'}, r"lesson a: unknown prerequisites \['nobody'\]"),
    ],
)
def test_a_wrong_row_is_named_with_what_it_needs(tmp_path, row, message):
    with pytest.raises(ValueError, match=message):
        table(tmp_path, row)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ('[[lesson]]\nslug = "b"\n', r"lesson 2 \(b\): missing fields \['page', 'title'"),
        (ROW.format(**GOOD) + 'colour = "red"\n', r"unknown fields \['colour'\]"),
        (ROW.format(**GOOD).replace(', zh = "题目"', ""), "title needs exactly the languages"),
        (ROW.format(**GOOD).replace("C156", "156"), "a concept is written like C156"),
        (ROW.format(**GOOD) + 'question = { en = "?" }\n', "question needs exactly the languages"),
        (ROW.format(**GOOD), r"used more than once: \['a'\]"),
    ],
)
def test_a_wrong_table_is_named(tmp_path, extra, message):
    with pytest.raises(ValueError, match=message):
        table(tmp_path, {}, extra=extra)


def test_the_lesson_on_show_is_the_one_whose_settings_are_in_force(tmp_path, monkeypatch):
    rows = [{"slug": "all"}, {"slug": "seven", "query": 'n = "7"'}, {"slug": "last"}]
    all_, seven, _last = table(tmp_path, *rows)
    monkeypatch.setattr(lessons, "LESSONS_FILE", tmp_path / "lessons.toml")
    own = {"n": "3"}
    assert lessons.find_lesson("start/home", {"n": "7", "x": "1"}, own) == seven
    assert lessons.find_lesson("start/home", {"n": "3", "x": "1"}, own) == all_
    assert lessons.find_lesson("start/home", {"n": "4"}, own) is None
    met_before = own | {"of_another_tab": "1"}
    assert lessons.find_lesson("start/home", {"n": "3", "x": "1"}, met_before) == all_
    assert lessons.find_lesson("train/live_run", {"n": "7"}, own) is None


def test_the_table_of_the_course_is_right_and_every_page_has_five_lessons():
    course = lessons.load_lessons()
    pages = {lesson.page for lesson in course}
    assert pages
    for page in pages:
        assert len(lessons.lessons_of(page)) >= 5, page
