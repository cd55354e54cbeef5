"""Two settings side by side on four pages: kept, linked, swapped, ended, locked, refused."""

import json
from urllib.parse import parse_qsl

import pytest

from tests.app.shown import OWN, alt, headline, parameters, said

# Page, its short name, the tabs that compare, and what makes B another setting.
PAGES = (
    ("plan/model_sizes", "sizes", ("model", "parts"), {"plan_model": "llama-2-70b"}),
    ("plan/training_memory", "memory", ("bar",), {"plan_precision": "fp32"}),
    ("plan/serving", "serving", ("memory", "speed"), {"plan_weights": "int4_group128"}),
    ("plan/flops_and_time", "flops", ("mfu",), {"dtype": "fp8"}),
    ("plan/flops_and_time", "flops", ("time", "components"), {"plan_model": "llama-3.1-70b"}),
)
CASES = [(page, name, tab, other) for page, name, tabs, other in PAGES for tab in tabs]
each_tab = pytest.mark.parametrize(("page", "name", "tab", "other"), CASES)


def query(name, values):
    return {key(name, each): value for each, value in values.items()}


def key(name, each):
    return each if each.startswith("plan_") else f"{name}_{each}"


@each_tab
def test_a_link_brings_both_sides_back_and_the_reader_in_either_language(
    open_page, page, name, tab, other
):
    app = open_page(page, **query(name, {"tab": tab, **other}))
    app.button(key=f"{name}_compare").click().run()
    same = headline(app)
    kept = dict(parse_qsl(parameters(app)[f"{name}_a"]))
    assert kept.items() >= other.items()
    assert kept.keys() <= {*other, "plan_model"}
    for each in other:
        app.session_state[key(name, each)] = parameters_default(app, key(name, each))
    app.run()
    different, told = headline(app), alt(app)
    assert different != same
    again = open_page(page, **parameters(app))
    assert (headline(again), alt(again)) == (different, told)
    chinese = open_page(page, **{**parameters(app), "lang": "zh"})
    assert "B" in headline(chinese)
    assert "B needs" not in headline(chinese)


def parameters_default(app, name):
    return app.session_state["frame_book"].parameters[name].default


@each_tab
def test_the_sides_are_swapped_and_the_comparison_is_ended(open_page, page, name, tab, other):
    app = open_page(page, **query(name, {"tab": tab, "a": "default", **other}))
    first = headline(app)
    app.button(key=f"{name}_swap").click().run()
    now = parameters(app)
    assert dict(parse_qsl(now[f"{name}_a"])).items() >= other.items()
    assert all(now[key(name, k)] == parameters_default(app, key(name, k)) for k in other)
    assert headline(app) != first
    app.button(key=f"{name}_swap").click().run()
    assert headline(app) == first
    app.button(key=f"{name}_end").click().run()
    assert parameters(app)[f"{name}_a"] == ""
    assert parameters(app)[key(name, next(iter(other)))] == next(iter(other.values()))
    assert app.button(key=f"{name}_compare").label == "Compare with…"


@pytest.mark.parametrize(("page", "name"), [each[:2] for each in PAGES[:4]])
def test_a_locked_page_keeps_both_sides_and_a_hidden_a_has_no_buttons(open_page, page, name):
    app = open_page(page, lock="1", **{f"{name}_a": "default"})
    assert app.button(key=f"{name}_swap").disabled
    assert app.button(key=f"{name}_end").disabled
    assert open_page(page, lock="1").button(key=f"{name}_compare").disabled
    hidden = open_page(page, hide="a", **{f"{name}_a": "default"})
    assert not {each.key for each in hidden.button} & {f"{name}_swap", f"{name}_compare"}
    assert "A and B" in headline(hidden)


def test_what_a_link_says_wrongly_about_a_is_told_by_name(open_page):
    text = "plan_model=llamx&plan_weights=bfloat16&foo=1"
    app = open_page("plan/model_sizes", sizes_a=text, plan_model="llama-2-70b")
    assert headline(app).startswith("B needs 8.59 times A's memory: 128 GiB against 15.0 GiB")
    assert "`sizes_a: plan_model` = `llamx` was not accepted" in said(app)
    assert "`llama-3.1-8b` is used instead" in said(app)
    assert "A also sets `foo`" in said(app)
    beyond = open_page("plan/training_memory", memory_a="plan_batch=1000000&plan_length=inf")
    assert "a whole number from 1 to 4096; `1` is used instead" in said(beyond)
    assert "`memory_a: plan_length` = `inf` was not accepted" in said(beyond)


@pytest.mark.parametrize("text", ["inf", "&&&", "=", "x" * 3000, "%zz", "\x00\u202e`<b>"])
def test_a_text_that_says_nothing_is_told_and_a_is_at_its_defaults(open_page, text):
    app = open_page("plan/model_sizes", sizes_a=text)
    assert "A and B need the same memory: 15.0 GiB" in headline(app)
    assert "cannot be read" in said(app) or "A also sets" in said(app)


def test_a_setting_that_cannot_be_leaves_the_other_alone(open_page):
    text = "plan_model=deepseek-v3&plan_lora=bfloat16"
    app = open_page("plan/training_memory", memory_a=text)
    assert headline(app).startswith("Training Llama-3.1 8B needs 33.7 GiB")
    assert "Nothing is compared: DeepSeek-V3 has no matrix" in said(app)
    assert not app.button(key="memory_end").disabled


def test_a_config_of_the_readers_own_is_one_of_the_sides(open_page):
    config = json.dumps(OWN, separators=(",", ":"))
    app = open_page("plan/model_sizes", plan_model="own", plan_config=config)
    app.button(key="sizes_compare").click().run()
    app.session_state["plan_model"] = "llama-2-7b"
    app.run()
    assert headline(app).startswith("B needs ")
    assert "A is llama in bfloat16, B is Llama-2 7B in bfloat16" in alt(app)
    again = open_page("plan/model_sizes", **parameters(app))
    assert (headline(again), alt(again)) == (headline(app), alt(app))


def test_a_config_that_no_link_can_carry_is_not_kept_and_the_button_says_why(open_page):
    many = {"sliding_window": 9, "num_hidden_layers": 300}
    long = json.dumps({**OWN, **many, "layer_types": ["sliding_attention"] * 300})
    app = open_page("plan/model_sizes", plan_model="own")
    app.session_state["own_config_long"] = long
    app.run()
    assert app.button(key="sizes_compare").disabled
    assert "a link holds at most 4,000" in app.button(key="sizes_compare").help
    app.session_state["own_config_long"] = ""
    app.run()
    assert not app.button(key="sizes_compare").disabled


def test_the_reader_chooses_the_formats_and_their_order_for_both_sides(open_page):
    formats = "int4_group128,bfloat16"
    query = {"sizes_formats": formats, "plan_model": "llama-2-7b"}
    app = open_page("plan/model_sizes", sizes_a="plan_model=llama-2-13b", **query)
    rows = alt(app).partition("A: ")[2]
    assert rows.index("int4_group128 6.") < rows.index("bfloat16 24.2 GiB and 12.6 GiB")
    assert "float32" not in alt(app)
    alone = open_page("plan/model_sizes", **query)
    assert "int4_group128 3.60 GiB ✓ fits, bfloat16 12.6 GiB" in alt(alone)
    bad = open_page("plan/model_sizes", sizes_formats="bfloat16,bfloat16")
    assert "`sizes_formats` = `bfloat16,bfloat16` was not accepted: allowed is up to 8" in said(bad)


def test_both_codes_stand_one_after_the_other_and_run(open_page, run_code):
    app = open_page(
        "plan/serving", serving_a="plan_model=llama-3.1-8b&plan_devices=1", plan_devices="1",
        plan_weights="int4_group128",
    )  # fmt: skip
    printed = run_code(app, "serve")
    assert "weights 14.9" in printed or "weights 15.0" in printed
    assert "weights 5.31 GiB" in printed
