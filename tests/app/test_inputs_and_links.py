"""An address that changes while a page is open, as a link to the same page changes it."""

import json

import pytest

from pages.shared.navigation import PAGES
from tests.app.shown import headline, said
from tests.core.budget.catalogue.test_hybrids import TABLE

NEMOTRON = json.dumps(TABLE["Nemotron-H 8B"][0])


def test_a_link_whose_run_was_ended_early_still_says_what_is_shown(open_page):
    """A click elsewhere ends the run that Streamlit reads a link in; the next must read it."""
    app = open_page("dtypes/bit_layouts")
    before = app.session_state["headline"]
    app.query_params["bits_format"] = "float8_e5m2"
    app.run()
    assert "float8_e5m2" in app.session_state["headline"] != before


def test_what_the_reader_has_moved_stands_against_an_older_address(open_page):
    app = open_page("dtypes/bit_layouts", bits_format="float8_e5m2")
    choice = app.selectbox(key="bits_format_choice")
    app.query_params["bits_format"] = "float32"
    choice.set_value("bfloat16").run()
    assert "bfloat16" in app.session_state["headline"]


def test_a_hybrid_of_the_readers_own_is_shown_on_every_page_of_budgets(open_page):
    def opened(page, name, tab, **more):
        own = {"plan_config": NEMOTRON, "plan_model": "own", f"{name}_tab": tab}
        return open_page(f"plan/{page}", **own, **more)

    assert "nemotron_h" in headline(opened("parallelism", "parallel", "stages"))
    assert "recurrent state" in said(opened("what_fits", "fits", "reach", plan_work="serve"))
    served = opened("serving", "serving", "memory")
    assert "concurrent users" in headline(served)
    timeline = opened("training_memory", "memory", "timeline")
    assert "Estimate: peak" in headline(timeline)
    assert timeline.button(key="memory_simulate").disabled


@pytest.mark.parametrize("page", [row.key for row in PAGES if row.key.startswith("plan/")])
def test_a_plan_whose_devices_cannot_be_split_is_refused_on_every_page_of_sizing(open_page, page):
    app = open_page(page, plan_devices="7", plan_stages="2")

    assert [each.value for each in app.exception] == []
    shown = [headline(app), *(each.value for each in (*app.error, *app.info))]
    assert any("take a multiple of 2" in each for each in shown), shown
    assert headline(app)


@pytest.mark.parametrize("tab", ["plan", "map", "reach"])
def test_what_fits_takes_experts_that_are_spread_over_devices(open_page, tab):
    spread = {"plan_model": "mixtral-8x7b", "plan_expert": "2", "fits_tab": tab}
    assert "Mixtral 8x7B" in headline(open_page("plan/what_fits", **spread))
    none = open_page("plan/what_fits", **spread | {"plan_model": "llama-3.1-8b"})
    assert [each.value for each in none.exception] == []


@pytest.mark.parametrize("tab", ["plan", "map", "reach"])
def test_what_fits_serves_with_a_plan_that_training_has_split(open_page, tab):
    split = {"plan_tensor": "2", "plan_stages": "2", "plan_work": "serve", "fits_tab": tab}
    assert "Llama-3.1 8B" in headline(open_page("plan/what_fits", **split))
    shared = {"plan_context": "64", "plan_devices": "64", "fits_tab": tab}
    assert "Llama-3.1 8B" in headline(open_page("plan/what_fits", **shared))
