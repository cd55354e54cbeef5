"""Every row of lessons.toml opened through the frame in both languages, and every page swept."""

import re

import pytest

from core.language import LANGUAGES
from pages.shared.lessons import lessons_of, load_concepts, load_lessons
from pages.shared.navigation import PAGES
from pages.start.lessons.inputs import load_paths
from pages.start.lessons.lists import load_self_check
from tests.app.shown import said

LESSONS = load_lessons()
START_CONCEPTS = {"C137", "C156", "C157", "C158", "C159"}
FORMAT_CONCEPTS = {f"C{number}" for number in (*range(1, 13), *range(15, 24))}
BUDGET_CONCEPTS = {f"C{number}" for number in (14, 46, 47, 49, *range(103, 137), 154)}
GRADIENT_CONCEPTS = {f"C{number}" for number in (48, *range(58, 72), 74, 75, 82, 83)}
TRAIN_CONCEPTS = {
    f"C{number}"
    for number in (72, 73, 74, *range(76, 82), 83, 84, 85, 86, 94, 96, *range(147, 154))
}
MODEL_CONCEPTS = {f"C{number}" for number in (*range(87, 94), *range(97, 103), *range(138, 147))}
OWN_QUESTIONS = {"start/spot_the_bug", "train/break_it"}
# Lesson, its concepts, and what its page must show in both languages to teach them.
SHOWN = (
    ("the-pipeline-bubble", (), ("27.3",)),
    ("tensor-ranks-leave-the-node", ("C120",), ("all-gather", "reduce-scatter", "1.875", "16")),
    ("wait-before-the-clock-stops", ("C131",), ("synchronize()", "1.72 PFLOP/s", "67.0 TFLOP/s")),
    ("error-view", ("C30",), ("stride", "(1, 3)", "3 × 2 = 6", "contiguous().view")),
    ("error-second-backward", ("C68",), ("scalar outputs", "inplace", "leaf", "numpy()")),
    ("five-intensities", ("C125", "C132"), ("1,024 × 1,024", "1.05 MFLOPs", "2.15 GFLOPs")),
    ("pcie-and-memory", ("C47",), ("pin_memory()", "non_blocking=True")),
    ("training-autocast", ("C116",), ("weight.grad", "fp32", "100 GiB")),
    ("bits-bf16-half", ("C1",), ("float32 0100000001001001", "bfloat16 0100000001001001 =")),
)
# What a lesson of these concepts must have on its first screen, for each of them.
TERMS = {
    "C25": r'"stride": .*"dtype": ',
    "C49": r"allocated.* reserved.* peak",
    "C69": r"derivative",
    "C74": r"gradient",
    "C76": r"Momentum.*weight decay",
    "C101": r"ln 3 = 1\.0986",
    "C104": r"\b\d+B\b",
    "C105": r"\d,\d{3},\d{3},\d{3}|bits per weight",
    "C110": r"fit|weights take|at most \*\*\d+",
    "C112": r"KV cache|per token",
    "C120": r"all-reduce|reduce-scatter|all-gather",
    "C126": r"Backward|backward|FLOPs",
}
NOT_CHINESE = re.compile(
    r"[一-龥][,:;()?!]|[(?!][一-龥]|[,:;] ?[一-龥]|[一-龥]\.(\s|$)|[。；，：、] +(?!\*)"
)
later = pytest.param("zh", marks=pytest.mark.slow)
each_language = pytest.mark.parametrize("language", ["en", later])
each_page = pytest.mark.parametrize("key", [row.key for row in PAGES])


def state(app, name, default=""):
    return app.session_state.get(name, default)


@each_language
@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.slug for lesson in LESSONS])
def test_a_lessons_link_shows_its_headline_and_sets_nothing_that_the_page_refuses(
    open_page, probed, request, lesson, language
):
    if "run" in lesson.query:  # it opens on its own settings, whatever this server has trained
        request.getfixturevalue("a_run")
    app = open_page(lesson.page, lang=language, **lesson.query)

    assert [each.value for each in app.exception] == []
    assert re.search(lesson.headline[language], state(app, "headline")), state(app, "headline")
    refused = [
        each.value for each in app.caption for name in lesson.query if f"`{name}`" in each.value
    ]
    assert refused == []
    if language == "en":
        told = _first_screen(app)
        missing = [each for each in lesson.concepts if not re.search(TERMS.get(each, ""), told)]
        assert missing == [], told
    else:
        charts = [each.proto.alt for each in app.get("plotly_chart")]
        sentences = [state(app, "headline"), *charts, *(each.value for each in app.caption)]
        prose = [re.sub(r"`[^`]*`|:[a-z]+\[[^\]]*\]", "X", each) for each in sentences]
        assert [each for each in prose if NOT_CHINESE.search(each)] == []


def _first_screen(app):
    """Return headline, numbers, and what pictures and browser parts are told; not the reading."""
    charts = [each.proto.alt for each in app.get("plotly_chart")]
    numbers = [f"{each.label} {each.value}" for each in app.metric]
    parts = [
        each.proto.json for each in app.get("bidi_component") if '"settings"' not in each.proto.json
    ]
    return " ".join([str(state(app, "headline")), *charts, *numbers, *parts])


def _seen(app):
    """Return all words of a page: texts, headline, alternatives of its charts."""
    charts = [each.proto.alt for each in app.get("plotly_chart")]
    return "\n".join([*charts, said(app), str(state(app, "headline"))])


@each_language
@pytest.mark.parametrize(("slug", "concepts", "words"), SHOWN, ids=[row[0] for row in SHOWN])
def test_a_lesson_shows_what_its_concept_says(open_page, probed, slug, concepts, words, language):
    (lesson,) = [each for each in LESSONS if each.slug == slug]
    assert tuple(lesson.concepts) == concepts

    seen = _seen(open_page(lesson.page, lang=language, **lesson.query))
    assert [each for each in words if each not in seen] == []


@each_language
@each_page
def test_every_page_has_a_title_its_lessons_a_question_and_no_exception(
    open_page, probed, key, language
):
    app = open_page(key, opened=["lesson_list_wanted"], lang=language)

    assert [each.value for each in app.exception] == []
    assert [title.value for title in app.title] != [""]
    assert len(app.title) == 1
    labels = " ".join(each.proto.label for each in app.get("page_link"))
    for lesson in lessons_of(key):
        assert lesson.title[language] in labels, lesson.slug
    asks = {"en": "Predict, then reveal", "zh": "先预测，再揭晓"}[language]
    # Each card of the bugs is a question, and each mistake of Break it.
    assert [each.label for each in app.expander].count(asks) == (key not in OWN_QUESTIONS)
    first = {"en": "Lesson 1 of ", "zh": "第 1 课"}[language]
    assert any(each.proto.popover.label.startswith(first) for each in app.get("popover"))
    assert state(app, "headline")
    assert app.query_params.get("lang", "en") == language


@each_page
def test_every_page_has_at_least_five_lessons(key):
    assert len(lessons_of(key)) >= 5


def test_the_concepts_of_each_section_have_a_lesson():
    taught = {concept for lesson in LESSONS for concept in lesson.concepts}

    wanted = START_CONCEPTS | FORMAT_CONCEPTS | BUDGET_CONCEPTS | TRAIN_CONCEPTS
    assert taught >= wanted | GRADIENT_CONCEPTS | MODEL_CONCEPTS


def test_live_training_is_taught_where_a_gpt_trains_live():
    by_slug = {lesson.slug: lesson for lesson in LESSONS}
    teach = {slug for slug, lesson in by_slug.items() if "C147" in lesson.concepts}

    assert teach >= {"watch-a-gpt-learn", "learning-rate-too-high", "our-own-lessons"}
    assert {by_slug[slug].page for slug in teach} == {"train/live_run"}


def test_every_concept_that_is_taught_has_a_name_in_both_languages():
    names = load_concepts()

    for concept in {concept for lesson in LESSONS for concept in lesson.concepts}:
        assert set(names.get(concept, {})) == set(LANGUAGES), concept


def test_the_self_check_has_eight_items_each_led_to_a_lesson():
    items, lessons = load_self_check(), {lesson.slug: lesson for lesson in LESSONS}

    assert len(items) == 8
    for item in items:
        assert item.lesson in lessons, item.slug
    assert not {item.slug for item in items} & set(lessons), "a tick belongs to one thing"


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ({"lessons_level": "1"}, lambda lesson: lesson.level == 1),
        ({"lessons_concept": "C159"}, lambda lesson: "C159" in lesson.concepts),
        ({"lessons_path": "sizing"}, lambda lesson: lesson.slug in load_paths()["sizing"].lessons),
        ({"lessons_page": "start/lessons"}, lambda lesson: lesson.page == "start/lessons"),
    ],
)
def test_each_filter_keeps_what_it_names(open_page, query, kept):
    app = open_page("start/lessons", **query)

    count = sum(1 for lesson in LESSONS if kept(lesson))
    assert state(app, "headline").startswith(f"{count} lesson")


def test_each_path_has_about_twelve_lessons_that_are_there():
    known = {lesson.slug for lesson in LESSONS}
    for path in load_paths().values():
        assert 10 <= len(path.lessons) == len(set(path.lessons)) <= 14
        assert set(path.lessons) <= known
        assert set(path.title) == set(LANGUAGES)


def test_filters_that_leave_nothing_say_what_to_do(open_page):
    app = open_page("start/lessons", lessons_level="3", lessons_concept="C157")

    assert state(app, "headline") == "0 lessons"
    assert any("set one of them back" in each.value for each in app.caption)


@pytest.mark.parametrize(("units", "memory"), [("GiB", "104 GiB"), ("GB", "112 GB")])
def test_the_card_writes_memory_in_the_readers_unit(open_page, units, memory):
    app = open_page("start/lessons", units=units, lessons_print="true")

    assert memory in state(app, "headline")
    assert [metric.value for metric in app.metric] == [memory, "42.0 ZFLOPs"]


@each_page
def test_every_snippet_runs_and_prints_what_the_headline_shows(open_page, probed, key, run_code):
    app = open_page(key)
    snippets = state(app, "snippets", {})
    assert snippets
    for name in snippets:
        assert run_code(app, name).strip(), name
