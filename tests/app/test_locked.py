"""A locked page stays as it is, whatever is clicked or pressed; what only explains still moves."""

import json

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.shared.navigation import PAGES
from tests.app.shown import parameters, tabs_of

# Start something that takes a separate process, or only show what is there already.
NO_INPUT = {
    "home_train",
    "machine_probe_again",
    "lr_manage",
    "lr_start",
    "bits_ask_finfo",
    "flops_time_it",
    "memory_simulate",
    "parallel_run",
    "rounding_prove",
}
# Select which number is explained, or which run is watched and how fast.
EXPLAINS = {"memory_item", "run", "speed"}
# What a click writes where the page is not locked: without these the test could not fail.
WRITES = {
    ("plan/what_fits", "plan"): {"plan_checkpointing", "plan_batch"},
    ("plan/what_fits", "map"): {"plan_model", "plan_device"},
    ("plan/training_memory", "items"): {"memory_item"},
    ("plan/training_memory", "bar"): {"memory_a"},
    ("plan/model_sizes", "model"): {"sizes_a"},
    ("plan/serving", "memory"): {"serving_a"},
    ("plan/flops_and_time", "time"): {"flops_a"},
}


def pictures(app):
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def leaves(customdata):
    """Yield what single points carry: a picture of squares has rows of them."""
    for each in customdata:
        if isinstance(each, list) and each and isinstance(each[0], list):
            yield from leaves(each)
        else:
            yield each


def clicks(app):
    """Yield a click on the last and on the first point of each picture that takes clicks."""
    for chart in app.get("plotly_chart"):
        carried = [
            point
            for trace in json.loads(chart.proto.spec)["data"]
            for point in leaves(trace.get("customdata") or ())
        ]
        if chart.proto.id and carried:
            for point in (carried[-1], carried[0]):
                selection = {"points": [{"customdata": point}]}
                value = json.dumps({"selection": selection})
                yield WidgetState(id=chart.proto.id, string_value=value)


def clicked(app, state, monkeypatch):
    """Run the page again with that click, as the browser would send it."""
    tree = app._tree
    told = tree.get_widget_states()
    told.widgets.append(state)
    with monkeypatch.context() as patch:
        patch.setattr(type(tree), "get_widget_states", lambda _tree: told)
        return app.run()


def touch_everything(app, monkeypatch):
    """Click every picture and press every button that may write an input; yield after each."""
    for state in list(clicks(app)):
        yield clicked(app, state, monkeypatch)
    for button in list(app.button):
        if button.key and button.key not in NO_INPUT and not button.key.endswith("_reveal"):
            # Greyed or not: a browser may send anything.
            yield clicked(app, WidgetState(id=button.proto.id, trigger_value=True), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("key", [row.key for row in PAGES])
def test_no_click_and_no_button_changes_a_locked_page(
    open_page, probed, a_run, options, monkeypatch, key
):
    name, tabs = tabs_of(open_page(key), options)
    for tab in tabs:
        app = open_page(key, lock="1", **({name: tab} if name else {}))
        before, drawn = parameters(app), pictures(app)
        for after in touch_everything(app, monkeypatch):
            assert [each.message for each in after.exception] == []
            changed = {each for each, value in parameters(after).items() if before[each] != value}
            assert changed <= EXPLAINS, tab
            if not changed:
                assert pictures(after) == drawn, tab


@pytest.mark.slow
@pytest.mark.parametrize(("page", "written"), WRITES.items(), ids=map("-".join, WRITES))
def test_where_it_is_not_locked_the_same_clicks_write_inputs(
    open_page, probed, options, monkeypatch, page, written
):
    key, tab = page
    name, _tabs = tabs_of(open_page(key), options)
    app = open_page(key, **{name: tab})
    before, changed = parameters(app), set()
    for after in touch_everything(app, monkeypatch):
        changed |= {each for each, value in parameters(after).items() if before.get(each) != value}
    assert changed >= written


def test_a_line_that_is_picked_out_is_explained_on_a_locked_page_too(
    open_page, options, monkeypatch
):
    app = open_page("plan/training_memory", lock="1", memory_tab="items")
    for after in touch_everything(app, monkeypatch):
        if parameters(after)["memory_item"] != "activations/attention":
            return
    pytest.fail("no click on the picture has picked out another line")
