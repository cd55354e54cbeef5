"""What fits: every plane, the solver, clicks, links to other pages, and refusals."""

import json
import re
import urllib.parse
from dataclasses import replace
from types import SimpleNamespace

import pytest
import streamlit as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.fits.jobs import SERVING_FORMATS, TRAINING_WAYS, training_ways
from core.budget.recipe import TrainingRecipe
from core.machine import cached_probe, keep_probe
from pages.plan.what_fits.map import take_over as take_square
from pages.server.moved import moved
from tests.app.shown import OWN, alt, captions, headline, said
from tests.core.budget.usable import usable

PAGE = "plan/what_fits"


@pytest.fixture
def open_page(open_page):
    """Open what is not said in the plan's names as the old link that it is; of no tab the map."""

    def opened(page, **settings):
        if page == PAGE and not any(name.startswith("plan_") for name in settings):
            old = {"fits_tab": "map", "fits_work": "serve"} | settings
            query = urllib.parse.urlsplit(moved(f"/what-fits?{urllib.parse.urlencode(old)}")).query
            settings = dict(urllib.parse.parse_qsl(query))
        return open_page(page, **settings)

    return opened


SEVENTY = {"plan_model": "llama-3.1-70b", "plan_devices": "16"}


def test_the_plan_says_how_many_devices_how_long_and_what_to_change(open_page, run_code):
    app = open_page(PAGE, **SEVENTY)
    said_before, buttons = headline(app), [b for b in app.button if b.key.startswith("plan_change")]
    assert "**24** is borderline, **32** fits." in said_before
    assert len(buttons) == 3
    rows = run_code(app).strip().splitlines()
    assert [row.split(":")[0] for row in rows] == ["8", "16", "24", "32", "64"]
    assert "too_big" in rows[1]
    assert "close" in rows[2]
    assert "fits, 11.30 h, 723 USD at 37.4% MFU" in rows[3]
    assert "on 32: 11 h 17 min, 723.1 USD at 37.4 % MFU" in said_before
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)["data"][0]["y"]
    assert drawn == [f"{row.split(':')[0]} ×" for row in rows]


def printed(app, run_code):
    """Return number of devices -> GiB and verdict, as the code of the plan prints them."""
    rows = run_code(app).strip().splitlines()
    return {row.split(": ")[0]: row.split(": ")[1] for row in rows}


def test_code_plans_what_has_no_time_a_serving_and_a_device_whose_peak_nobody_knows(
    open_page, run_code, probed
):
    serving = open_page(PAGE, plan_work="serve")
    size = re.search(r"fits: ([\d.]+) GiB of", headline(serving))[1]
    assert printed(serving, run_code)["8"] == f"{size} GiB, fits"
    probe = cached_probe()
    keep_probe(replace(probe, devices=(replace(probe.devices[0], speeds=()),)))
    here = open_page(PAGE, plan_device="local", plan_model="gpt2", plan_length="1024")
    assert any("has no known peak" in each for each in captions(here))
    size = re.search(r": ([\d.]+ [MG]iB) of", headline(here))[1]
    need = float(printed(here, run_code)["8"].split(" GiB")[0])
    assert f"{need:.2f} GiB" == size


@pytest.mark.parametrize("place", range(3))
def test_a_change_has_the_number_on_its_button_once_it_is_made(open_page, place):
    app = open_page(PAGE, **SEVENTY)
    button = app.button(key=f"plan_change_{place}")
    size = re.search(r"[\d.]+ GiB", button.label)[0]
    button.click().run()
    assert f" fits: {size} of" in headline(app)


def test_a_plan_that_cannot_be_and_one_that_no_single_change_helps(open_page):
    assert headline(open_page(PAGE, plan_stages="3")) == "This plan cannot be trained."
    large = open_page(PAGE, plan_model="llama-3.1-405b", plan_devices="16")
    assert "none of up to 192" in headline(large)
    assert "if it fitted" in headline(large)
    chained = json.loads(large.get("plotly_chart")[1].proto.spec)["data"][0]["y"]
    assert chained[0] == "as planned"
    assert len(chained) > 2
    pinned = open_page(PAGE, plan_mfu="0.5", plan_price="0")
    assert "at 50" in headline(pinned)
    assert "USD" not in headline(pinned)


def test_very_many_devices_are_a_sentence_and_a_picture(open_page):
    for number in ("512", "1024"):
        app = open_page(PAGE, fits_tab="reach", fits_devices=number)
        assert f"{number} tensor-parallel ranks cannot share 40 heads" in headline(app)
        assert alt(app)
        assert headline(open_page(PAGE, fits_tab="reach", fits_devices=number, fits_work="train"))


@pytest.mark.slow
def test_every_way_and_some_devices_have_a_headline(open_page):
    for way in SERVING_FORMATS:
        assert "Serving" in headline(open_page(PAGE, fits_format=way, fits_axes="ways_devices"))
    for way in TRAINING_WAYS:
        app = open_page(PAGE, fits_work="train", fits_recipe=way, fits_axes="ways_devices")
        assert "Training" in headline(app), way
    for device in tuple(DEVICES)[::5]:
        assert DEVICES[device].name in headline(open_page(PAGE, fits_device=device)), device


def test_the_corrected_sentences_of_the_notes(open_page):
    fits = open_page(PAGE, fits_model="llama-2-13b", fits_device="a100-40gb")
    eight = open_page(PAGE, fits_model="llama-2-13b", fits_format="int8")
    two = open_page(PAGE, fits_model="llama-2-70b", fits_device="a100-80gb")

    assert f"fits: 27.7 GiB needed, {usable('a100-40gb')} usable" in headline(fits)
    assert "in int8 on one RTX 4090 fits" in headline(eight)
    assert headline(two).endswith("2 devices are enough.")


def clicked(app, monkeypatch, axes, work, square, *, locked=False):
    """Return the page after a click on a square, as Streamlit calls it in its session."""
    plan = SimpleNamespace(work=work, recipe=TrainingRecipe())
    jobs = {way: SimpleNamespace(plan=job) for way, job in training_ways(plan.recipe).items()}
    case = SimpleNamespace(axes=axes, plan=plan, ways=jobs)
    with monkeypatch.context() as patch:
        patch.setattr(st, "session_state", app.session_state)
        patch.setattr("pages.shared.plan.plan.locked", lambda: locked)
        take_square(case, [*square, "what the square says"])
    return app.run()


def test_a_click_on_a_square_takes_over_its_row_and_column(open_page, monkeypatch):
    for work, tab, pair, expected in (
        ("serve", "models_devices", ["llama-2-70b", "t4"], "Serving Llama-2 70B in bf16 on one T4"),
        ("serve", "ways_devices", ["int4", "t4"], "Serving Llama-2 13B in int4 on one T4"),
        ("train", "models_ways", ["gpt2-xl", "qlora"], "Training GPT-2 XL (qlora)"),
    ):
        app = open_page(PAGE, fits_work=work, fits_axes=tab)
        assert headline(clicked(app, monkeypatch, tab, work, pair)).startswith(expected), tab


def test_a_click_on_a_locked_page_changes_nothing(open_page, monkeypatch):
    app = open_page(PAGE, lock="1")
    before, square = headline(app), ["gpt2-xl", "t4"]
    after = clicked(app, monkeypatch, "models_devices", "serve", square, locked=True)
    assert headline(after) == before


def test_an_own_model_and_an_own_device_are_in_the_picture(open_page):
    settings = {"fits_model": "own", "fits_config": json.dumps(OWN), "fits_device": "own"}

    app = open_page(PAGE, fits_device_gib="1", **settings)

    assert "1.00 GiB" in headline(app)
    assert "fits" in headline(app)


def test_a_number_of_devices_that_cannot_share_the_model_is_a_sentence(open_page):
    app = open_page(PAGE, fits_tab="reach", fits_model="gpt2-xl", fits_devices="8")

    assert "8 tensor-parallel ranks cannot share 25 heads" in headline(app)
    assert alt(app)


def test_the_solver_names_the_most_and_the_fewest(open_page):
    app = open_page(PAGE, fits_tab="reach", fits_model="llama-2-70b", fits_devices="2")

    assert "not one sequence of 4,096 tokens fits" in headline(app)
    metrics = {metric.label.partition(" :gray")[0]: metric.value for metric in app.metric}
    assert metrics["Fewest devices"] == "8"
    assert metrics["Longest sequence, 1 concurrent"] == "0"


def test_recipes_that_fit_are_listed_for_training(open_page):
    some = open_page(PAGE, fits_tab="reach", fits_work="train", fits_devices="8")
    none = open_page(PAGE, fits_tab="reach", fits_work="train", fits_model="deepseek-v3")

    tables = [each.value for each in some.markdown if "tokens/s" in each.value]
    assert any("LoRA on NF4 weights" in table for table in tables)
    assert any("No recipe of this list fits" in text for text in captions(none))


def test_the_code_fills_the_memory_as_the_headline_says(open_page, run_code):
    for settings in (
        {"fits_model": "llama-2-13b", "fits_format": "int4"},
        {"fits_model": "mixtral-8x7b", "fits_work": "train", "fits_recipe": "qlora"},
        {"fits_model": "deepseek-v3", "fits_axes": "ways_devices"},
    ):
        app = open_page(PAGE, **settings)
        first_that_fails = [each for each in run_code(app).splitlines() if "does not fit" in each]
        said = headline(app)
        assert (": **" in said) == bool(first_that_fails), settings
        if first_that_fails:
            assert f"**{first_that_fails[0].partition(':')[0]}**" in said, settings
        assert "core" not in app.session_state["snippets"]["fits"]


def test_what_a_click_chooses_is_in_settings_and_the_rest_beside_the_picture(open_page):
    for tab, labels in (
        ("models_devices", ["Job", "Weight format"]),
        ("ways_devices", ["Job", "Model"]),
        ("models_ways", ["Job", "Device"]),
        ("reach", ["Model"]),
    ):
        app = open_page(PAGE, **({"fits_tab": tab} if tab == "reach" else {"fits_axes": tab}))
        (settings,) = [
            each for each in app.get("popover") if each.proto.popover.label == "Settings"
        ]
        choices = ("Job", "Model", "Device", "Weight format")
        hidden = [each.label for each in (*settings.selectbox, *settings.get("button_group"))]
        assert [name for name in choices if name not in hidden] == labels, tab


def query_of_link(app):
    (link,) = [each.proto for each in app.get("page_link") if each.proto.label.startswith("Open")]
    return dict(urllib.parse.parse_qsl(link.query_string))


@pytest.mark.parametrize("recipe", TRAINING_WAYS)
def test_the_link_opens_the_training_page_in_this_state(open_page, recipe):
    here = open_page(PAGE, fits_work="train", fits_recipe=recipe, fits_tokens="1024")
    needed = next(m.value for m in here.metric if m.label.startswith("Needed"))
    query = query_of_link(here)

    there = open_page("plan/training_memory", **query)

    assert there.session_state["frame_book"].refusals == {}
    assert set(query) <= set(there.session_state["frame_book"].parameters)
    assert needed in there.session_state["headline"]


def test_tokens_beyond_the_context_are_told(open_page):
    long = {"fits_tokens": "131072"}
    maps = open_page(PAGE, **long)
    reach = open_page(PAGE, fits_tab="reach", fits_model="gpt2", **long)

    assert any("reads at most 4,096 tokens" in text for text in captions(maps))
    assert "sequences of 1,024 tokens at once" in headline(reach)
    assert any("reads at most 1,024 tokens" in text for text in captions(reach))


def test_the_fewest_devices_say_why(open_page):
    for settings, amount, words in (
        ({"fits_model": "gpt2"}, "1", "One device is enough."),
        ({"fits_model": "llama-2-70b"}, "8", "With half as many fails: weights"),
        (
            {"fits_model": "llama-3.1-405b", "fits_device": "t4", "fits_work": "train"},
            "none",
            "No number up to 384 is enough; what fails then: ",
        ),
    ):
        app = open_page(PAGE, fits_tab="reach", **settings)
        (fewest,) = [metric for metric in app.metric if metric.label == "Fewest devices"]
        assert (fewest.value, words in fewest.help) == (amount, True), fewest.help


def test_units_follow_the_reader(open_page):
    assert "GB needed" in headline(open_page(PAGE, units="GB"))
    assert len(MODELS) == 54


def test_usable_memory_says_where_it_is_from(open_page):
    usable = open_page(PAGE, fits_device="a100-80gb").metric[1]
    assert usable.label.endswith("estimated]")  # a reading, less a context that nobody has read
    assert "CUDA context" in usable.help
    assert all(reading in usable.help for reading in ("79.14", "79.25", "79.35"))
    estimated = open_page(PAGE, fits_device="h200-sxm", lang="zh").metric[1]
    assert estimated.label.endswith("估计]")
    assert "nvidia-smi" in estimated.help


def test_on_a_projector_all_devices_are_as_many_as_have_room_and_the_page_says_so(open_page):
    shown = open_page(PAGE, fits_all="true", present="1")
    assert f"12 of {len(DEVICES)} devices" in said(shown)
    assert f"of {len(DEVICES)} devices" not in said(open_page(PAGE, fits_all="true"))


def test_context_ranks_and_interleaved_stages_are_searched_for_and_change_the_map(open_page):
    long = {
        "fits_work": "train", "fits_model": "llama-3.1-8b", "fits_device": "h100-sxm",
        "fits_tokens": "131072", "fits_checkpointing": "selective",
    }  # fmt: skip
    alone = open_page(PAGE, **long)
    assert "No number up to " in headline(alone)
    shared = open_page(PAGE, **long, fits_context="64")
    assert "on 64 H100 SXM fits: " in headline(shared)
    drawn = [app.get("plotly_chart")[0].proto.spec for app in (alone, shared)]
    assert drawn[0] != drawn[1]  # the squares say how many devices would do
    short = {**long, "fits_tokens": "4096", "fits_checkpointing": "none", "fits_stages": "4"}
    plain, interleaved = (open_page(PAGE, **short, fits_virtual=runs) for runs in ("1", "4"))
    assert headline(plain) != headline(interleaved)


def test_a_model_is_at_first_served_as_its_makers_publish_it(open_page, monkeypatch):
    app = open_page(PAGE, fits_model="gpt-oss-120b", fits_device="h100-sxm")
    assert "Serving gpt-oss 120B in mxfp4 on one H100 SXM fits" in headline(app).replace("  ", " ")
    assert "in fp8 " in headline(open_page(PAGE, fits_model="deepseek-v3"))
    assert "in bf16 " in headline(open_page(PAGE, fits_model="gpt-oss-120b", fits_format="bf16"))
