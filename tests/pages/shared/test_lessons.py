"""The table of lessons: what every row needs, and which lesson is on show."""

import re

from core.language import LANGUAGES
from pages.shared import lessons
from pages.shared.navigation import PAGES

ROW = """
[[lesson]]
slug = "{slug}"
page = "start/home"
query = {{ {query} }}
title = {{ en = "Title", zh = "题目" }}
headline = {{ en = "1", zh = "1" }}
concepts = ["C156"]
level = 1
"""


def test_the_lesson_on_show_is_the_one_whose_settings_are_in_force(tmp_path, monkeypatch):
    rows = {"all": "", "seven": 'n = "7"', "last": ""}
    text = "".join(ROW.format(slug=slug, query=query) for slug, query in rows.items())
    (tmp_path / "lessons.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(lessons, "LESSONS_FILE", tmp_path / "lessons.toml")
    lessons.load_lessons.cache_clear()
    all_, seven, _last = lessons.load_lessons()
    own = {"n": "3"}
    assert lessons.find_lesson("start/home", {"n": "7", "x": "1"}, own) == seven
    assert lessons.find_lesson("start/home", {"n": "3", "x": "1"}, own) == all_
    assert lessons.find_lesson("start/home", {"n": "4"}, own) is None
    met_before = own | {"of_another_tab": "1"}
    assert lessons.find_lesson("start/home", {"n": "3", "x": "1"}, met_before) == all_
    assert lessons.find_lesson("train/live_run", {"n": "7"}, own) is None
    lessons.load_lessons.cache_clear()


def test_every_row_of_the_course_has_what_a_lesson_needs():
    course = lessons.load_lessons()
    slugs, pages = [each.slug for each in course], {row.key for row in PAGES}
    assert len(set(slugs)) == len(slugs)
    for lesson in course:
        slug = lesson.slug
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug), slug
        assert lesson.page in pages, slug
        assert lesson.level in (1, 2, 3), slug
        assert all(isinstance(value, str) for value in lesson.query.values()), slug
        assert all(re.fullmatch(r"C\d{1,3}", each) for each in lesson.concepts), slug
        assert {*lesson.prerequisites} <= {*slugs}, slug
        for words in (lesson.title, lesson.headline, lesson.question or lesson.title):
            assert set(words) == set(LANGUAGES), slug
        for pattern in lesson.headline.values():
            re.compile(pattern)


def test_every_page_with_lessons_has_five():
    for page in {lesson.page for lesson in lessons.load_lessons()}:
        assert len(lessons.lessons_of(page)) >= 5, page
