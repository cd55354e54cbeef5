"""This machine: what torch can do here, its layers, its installation and its error texts."""

import pytest

from core.machine.install import BUILDS, install_plan
from pages.shared.start.torch_errors import find_error
from tests.app.shown import ask, commit, page_links, said, texts

KEY = "start/machine"


def test_the_first_tab_shows_what_torch_can_do_here(open_page, probed):
    app = open_page(KEY)

    assert "memory to train at most" in app.session_state["headline"]
    assert "2.00 GFLOP/s" in said(app)
    assert "AVX2 ✓, AMX ✗" in said(app)
    (chart,) = app.get("plotly_chart")
    assert "On cpu 1 dtypes can be created, converted, added and multiplied: float32." in (
        chart.proto.alt
    )
    app.session_state["machine_machine_dtypes_0_numbers"] = True
    app.run()
    table = app.table[0].value
    assert list(table["dtype"]) == ["float32", "float8_e4m3fn"]
    assert list(table["add"]) == ["✓", "✗"]
    assert list(table["PyTorch says"]) == ["", "no sum"]


def test_a_wheel_that_does_not_exist_is_explained(open_page):
    app = open_page(KEY, machine_system="macos", machine_build="cuda")

    assert "has no wheel for “NVIDIA GPU” on macOS" in app.warning[0].value
    assert app.session_state["headline"] == "There is no such wheel"


def test_the_lines_to_type_are_those_of_the_plan(open_page):
    app = open_page(KEY, machine_system="windows", machine_build="cuda126")

    plan = install_plan("windows", "cuda126")
    assert app.session_state["headline"] == f"`{plan.torch_line}`"
    assert [each.value for each in app.code] == ["\n".join(plan.commands), plan.check]


@pytest.mark.parametrize("tab", ["machine", "stack"])
def test_when_torch_cannot_be_asked_the_tab_says_why(open_page, monkeypatch, tab):
    def refuse(**options):
        raise ValueError("Torch could not be asked: libtorch is missing")

    monkeypatch.setattr("pages.start.machine.inputs.probe_machine", refuse)

    app = open_page(KEY, machine_tab=tab)

    assert not app.exception
    assert app.error[0].value == "Torch could not be asked: libtorch is missing"


def test_asking_again_measures_again(open_page, probed, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "pages.start.machine.inputs.probe_machine",
        lambda *, refresh=False: asked.append(refresh) or probed,
    )

    open_page(KEY).button(key="machine_probe_again").click().run()

    assert True in asked


@pytest.mark.parametrize("slug", ["unscale-fp16", "out-of-memory"])
def test_an_error_text_has_its_reason_its_remedy_and_code_or_the_file_that_says_it(open_page, slug):
    error = find_error(slug)
    app = open_page(KEY, machine_tab="errors", machine_error=slug)

    assert not app.exception
    for words in (error.why["en"], error.fix["en"], error.source):
        assert any(words in text for text in texts(app)), words
    assert [each.page for each in page_links(app) if each.query_string]
    codes = app.session_state["snippets"].values() if "snippets" in app.session_state else []
    assert [error.code.splitlines()[0] in code for code in codes] == ([True] if error.code else [])
    for code in codes:
        compile(code, slug, "exec")


def test_the_build_that_arrives_is_the_one_without_an_index(open_page):
    app = open_page(KEY, **ask("machine_plain_line"))
    offered = [each for each in BUILDS if "linux" in each.indexes]
    right = next(place for place, each in enumerate(offered) if each.key == "cuda")

    app = commit(app, "machine_plain_line", right)

    assert "Right: **NVIDIA GPU**." in texts(app)
