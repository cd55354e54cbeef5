"""Home: one sentence, one button, the last run, five steps, the search, and old links."""

import re
import urllib.parse

import pytest

from core.train.start.plan import outline_run
from core.train.start.timing import TimingError
from pages.shared.lessons import load_lessons
from pages.shared.navigation import PAGES, page_row
from pages.shared.start.course_map import find
from pages.start.home import train_now
from pages.start.home.steps import STEPS
from pages.start.home.train_now import WISH
from tests.app.shown import headline, page_links, texts


def test_the_first_run_of_the_page_starts_no_measurement(open_page, monkeypatch):
    started = []
    monkeypatch.setattr(train_now.jobs(), "start", lambda *job: started.append(job))

    app = open_page("start/home")

    assert started == []
    assert "Measuring this machine…" in texts(app)


def test_the_newest_run_is_named_with_its_state_and_step(open_page, a_run):
    app = open_page("start/home")

    assert "Run **one-minute** has finished: step 100 of 100." in texts(app)
    assert "Look at it" in [each.label for each in page_links(app)]


def test_an_error_text_leads_to_its_reason_its_remedy_and_its_code(open_page):
    app = open_page(
        "start/home", home_search="mat1 and mat2 shapes cannot be multiplied (8x3 and 5x1)"
    )

    assert any("in_features is not the last axis" in text for text in texts(app))
    assert "mat1 and mat2 shapes" in app.session_state["headline"]
    (link,) = [
        each for each in page_links(app) if "machine_error=matmul-shapes" in each.query_string
    ]
    query = dict(urllib.parse.parse_qsl(link.query_string))
    there = open_page("start/machine", **query)
    assert there.session_state["headline"] == app.session_state["headline"]
    (code,) = there.session_state["snippets"].values()
    assert "torch.zeros(2, 3) @ torch.zeros(2, 3)" in code


@pytest.mark.parametrize(
    ("query", "page", "settings", "said"),
    [
        ("how many H100", "what-fits", {"plan_device": "h100-sxm"}, "H100"),
        ("FP16 overflows at 65504", "rounding-and-overflow", {"rounding_value": "70000"}, "= inf"),
        ("65504", "bit-layouts", {"bits_format": "float16"}, "65504"),
    ],
)
def test_an_answer_opens_the_page_in_the_state_that_was_asked_for(
    open_page, query, page, settings, said
):
    app = open_page("start/home", home_search=query)
    link = next(each for each in page_links(app) if each.page == page)
    query = dict(urllib.parse.parse_qsl(link.query_string))
    assert settings.items() <= query.items()

    (row,) = [row for row in PAGES if row.address == page]
    assert said in open_page(row.key, **query).session_state["headline"]


def test_an_error_that_is_not_known_is_said_to_have_no_explanation(open_page):
    app = open_page("start/home", home_search="RuntimeError: the flux capacitor is not charged")

    assert app.session_state["headline"] == "No explanation for this text"
    assert not app.code or all("flux" not in each.value for each in app.code)
    assert any("machine_tab=errors" in each.query_string for each in page_links(app))


@pytest.mark.parametrize("query", ["bananas", "<script>alert(1)</script>", "🙂" * 50])
def test_what_is_not_found_is_said_in_a_sentence(open_page, query):
    app = open_page("start/home", home_search=query)

    assert not app.exception
    assert app.session_state["headline"] == "Nothing found for these words."


@pytest.mark.parametrize("error", [ValueError("The device is taken."), TimingError("no clock")])
def test_a_start_that_fails_says_why_and_stays(open_page, monkeypatch, error):
    def refuse(*args, **options):
        raise error

    monkeypatch.setattr(train_now, "start_run", refuse)

    app = open_page("start/home")
    app.button(key="home_train").click().run()

    assert [each.value for each in app.error] == [str(error)]


def test_a_locked_link_cannot_start_a_run(open_page):
    assert open_page("start/home", lock="1").button(key="home_train").disabled


def test_a_failed_measurement_is_told(open_page, monkeypatch):
    monkeypatch.setattr(train_now.jobs(), "error", lambda *_: "torch is broken")

    assert "This machine could not be measured: torch is broken" in texts(open_page("start/home"))


def test_a_run_that_does_not_fit_is_refused_in_a_sentence(open_page, monkeypatch):
    def refuse(wish):
        raise ValueError("The run needs 9 GiB and 1 GiB is free.")

    monkeypatch.setattr("core.train.start.plan.plan_run", refuse)

    app = open_page("start/home")

    assert not app.exception
    assert [each.value for each in app.error] == ["The run needs 9 GiB and 1 GiB is free."]


def test_the_sentence_says_how_many_parameters_steps_and_lessons(open_page):
    said = headline(open_page("start/home"))

    steps, parameters, first, lessons = (
        int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", said)
    )
    pages = {find(slug).page for slug in STEPS.values()}
    easy = [each for each in load_lessons() if each.page in pages and each.level == 1]
    assert (steps, first) == (5, len(easy))
    assert headline(open_page("start/lessons")).startswith(f"{lessons} lessons on ")
    assert parameters == round(outline_run(WISH).parameters.amount)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_step_has_a_picture_and_leads_to_the_lesson_that_shows_it(open_page, language):
    app = open_page("start/home", lang=language)

    pictures = [each.proto.body for each in app.get("html") if "data-picture" in each.proto.body]
    assert len(pictures) == len(STEPS)
    links = {each.page: each.query_string for each in page_links(app)}
    for (name, slug), picture in zip(STEPS.items(), pictures, strict=True):
        lesson = find(slug)
        assert f'data-picture="{name}"' in picture
        query = dict(urllib.parse.parse_qsl(links[page_row(lesson.page).address]))
        assert lesson.query.items() <= query.items()


def test_the_numbers_below_the_steps_are_those_of_the_pages_they_lead_to(open_page):
    app = open_page("start/home")

    for slug, number in zip(
        STEPS.values(), ("3.140625", "9", "42", "87.9 %", "33.7 GiB"), strict=True
    ):
        lesson = find(slug)
        there = open_page(lesson.page, **lesson.query)
        assert any(number in each.value for each in app.caption), number
        assert number in there.session_state["headline"], slug
