"""Home: the button, the last run, the search and the card."""

import urllib.parse

import pytest

from core.train.start.timing import TimingError
from pages.start.home import train_now
from pages.start.home.search import load_torch_errors
from tests.app.shown import page_links, texts

ON_A_GRAPH = [error for error in load_torch_errors() if error.page == "autograd/computation_graph"]


def test_the_first_run_of_the_page_starts_no_measurement(open_page, monkeypatch):
    started = []
    monkeypatch.setattr(train_now.jobs(), "start", lambda *job: started.append(job))

    app = open_page("start/home")

    assert started == []
    assert "Measuring this machine…" in texts(app)


def test_without_a_run_home_says_so(open_page):
    assert "No run yet on this server. The button starts the first one." in texts(
        open_page("start/home")
    )


def test_the_newest_run_is_named_with_its_state_and_step(open_page, a_run):
    app = open_page("start/home")

    assert "Run **one-minute** has finished: step 100 of 100." in texts(app)
    assert "Look at it" in [each.label for each in page_links(app)]


def test_an_error_text_leads_to_its_reason_its_remedy_and_its_code(open_page):
    app = open_page(
        "start/home", home_search="mat1 and mat2 shapes cannot be multiplied (8x3 and 5x1)"
    )

    assert any("in_features is not the last axis" in text for text in texts(app))
    assert any("torch.zeros(2, 3) @ torch.zeros(2, 3)" in code.value for code in app.code)
    assert "mat1 and mat2 shapes" in app.session_state["headline"]


@pytest.mark.parametrize("error", ON_A_GRAPH, ids=lambda error: error.slug)
def test_an_error_of_autograd_happens_on_the_graph_that_it_leads_to(open_page, error):
    home = open_page("start/home", home_search=error.text)
    link = next(each for each in page_links(home) if each.page == "computation-graph")
    query = dict(urllib.parse.parse_qsl(link.query_string))
    assert error.query.items() <= query.items()

    app = open_page(error.page, **query)

    assert not app.exception
    said = [code.value.split("\n")[0].partition(": [")[0] for code in app.code]
    assert error.text.partition(": [")[0] in said


def test_a_lesson_is_found_by_its_title_and_a_page_by_its_question(open_page):
    found = texts(open_page("start/home", home_search="silicon"))
    assert any("home_card=stack" in text for text in found)

    app = open_page("start/home", home_search="what can I do already")
    labels = [each.label for each in page_links(app)]
    assert any(label.startswith("Lessons: What is there to learn here") for label in labels)


@pytest.mark.parametrize("query", ["bananas", "<script>alert(1)</script>", "🙂" * 50])
def test_what_is_not_found_is_said_in_a_sentence(open_page, query):
    app = open_page("start/home", home_search=query)

    assert not app.exception
    assert any(text.startswith("Nothing found for these words.") for text in texts(app))


def test_the_card_shows_what_torch_can_do_here(open_page, probed):
    shown = "\n".join(texts(open_page("start/home", home_card="environment")))

    assert "2.00 GFLOP/s" in shown
    assert "`float32`" in shown
    assert "| `float8_e4m3fn` | ✓ | ✗ | ✓ | `no sum` |" in shown
    assert "AVX2 ✓, AMX ✗" in shown


def test_the_stack_is_a_chart_with_a_sentence_and_a_table(open_page, probed):
    app = open_page("start/home", home_card="stack")

    (chart,) = app.get("plotly_chart")
    assert "torch 2.13.0+cpu" in chart.proto.alt
    app.session_state["home_stack_numbers"] = True
    app.run()
    assert "PyTorch" in list(app.table[0].value["layer"])


def test_a_wheel_that_does_not_exist_is_explained(open_page):
    app = open_page("start/home", home_card="install", home_system="macos", home_build="cuda")

    assert "has no wheel for “NVIDIA GPU” on macOS" in app.warning[0].value


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


def test_when_torch_cannot_be_asked_the_card_says_why(open_page, monkeypatch):
    def refuse(**options):
        raise ValueError("Torch could not be asked: libtorch is missing")

    monkeypatch.setattr("pages.start.home.machine_cards.probe_machine", refuse)

    for card in ("environment", "stack"):
        app = open_page("start/home", home_card=card)
        assert not app.exception
        assert app.error[0].value == "Torch could not be asked: libtorch is missing"


def test_asking_again_measures_again(open_page, probed, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "pages.start.home.machine_cards.probe_machine",
        lambda *, refresh=False: asked.append(refresh) or probed,
    )

    open_page("start/home", home_card="environment").button(key="home_probe_again").click().run()

    assert True in asked


def test_a_run_that_does_not_fit_is_refused_in_a_sentence(open_page, monkeypatch):
    def refuse(wish):
        raise ValueError("The run needs 9 GiB and 1 GiB is free.")

    monkeypatch.setattr("core.train.start.plan.plan_run", refuse)

    app = open_page("start/home")

    assert not app.exception
    assert [each.value for each in app.error] == ["The run needs 9 GiB and 1 GiB is free."]
