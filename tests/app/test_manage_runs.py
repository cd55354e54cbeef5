"""The window of the runs: compare, replay, rename, pin, delete; who may, and what is refused."""

import json

import pytest

from core.train.run.directory import runs_directory
from core.train.run.shelf import read_label
from core.train.run.state import RunState, write_state
from core.train.run.store import RunStore
from pages.server import control_right
from pages.server.control_right import Peer
from tests.app.shown import browser_part

PAGE = "train/live_run"
NAMES = ["20260102t030405z-one-minute-00aa", "20260103t030405z-one-minute-00bb"]


@pytest.fixture
def runs():
    """Two finished runs with a few evaluations each; the newer one is better."""
    folder = runs_directory()
    for number, name in enumerate(NAMES):
        run = folder / name
        run.mkdir(parents=True)
        info = {
            "format_version": 1,
            "name": name,
            "created": 1_767_323_045.0 + 86_400 * number,
            "config": {"name": "one-minute", "num_steps": 30, "learning_rate": 0.1**number},
            "resolved": {"device": "cpu"},
        }
        (run / "run.json").write_text(json.dumps(info), encoding="utf-8")
        with RunStore(run) as store:
            for step in (10, 20, 30):
                store.append_event("eval", step, validation_loss=5 - number - step / 20)
        write_state(run, RunState(state="finished", step=30, pid=1))
    return folder


@pytest.fixture
def window(runs, open_page):
    """The live page with the window open."""
    return open_page(PAGE).button(key="lr_manage").click().run()


def again(app):
    """Run with the window still open: a browser reruns only the window, AppTest the whole page."""
    return app.button(key="lr_manage").click().run()


def written(app):
    elements = (*app.caption, *app.markdown, *app.error)
    return " ".join(str(each.value) for each in elements)


def test_the_chosen_runs_come_into_the_picture_of_the_first(window):
    window.multiselect(key="lr_chosen").set_value(NAMES)
    app = again(window).button(key="lr_together").click().run()
    assert not app.exception
    part = browser_part(app, "live_chart")
    assert part["run"] == NAMES[0]
    assert part["beside"] == [{"run": NAMES[1], "name": "Learning rate 1 → 0.1"}]
    assert "| Learning rate | 1 | 0.1 |" in written(app)
    assert "| Lowest validation loss | 3.500 | 2.500 |" in written(app)


def test_a_title_a_pin_and_their_refusals(window, runs):
    newest = NAMES[1]
    window.text_input(key=f"lr_title_{newest}").set_value("Half the rate")
    app = again(window)
    assert read_label(runs / newest).title == "Half the rate"
    app.toggle(key=f"lr_pin_{newest}").set_value(True)
    app = again(app)
    assert read_label(runs / newest).pinned
    app.text_input(key=f"lr_title_{newest}").set_value("\u202e")
    app = again(app)
    assert "needs at least one visible character" in written(app)
    assert read_label(runs / newest).title == "Half the rate"


def test_a_run_is_deleted_only_by_the_button_that_says_so(window, runs):
    newest = NAMES[1]
    assert "gone for good" in written(window)
    app = window.button(key=f"lr_delete_{newest}").click().run()
    assert not app.exception
    assert [path.name for path in runs.iterdir()] == NAMES[:1]


def test_a_pinned_run_is_not_deleted_whatever_the_browser_sends(window, runs):
    newest = NAMES[1]
    window.toggle(key=f"lr_pin_{newest}").set_value(True)
    app = again(window)
    app.button(key=f"lr_delete_{newest}").click()
    app = again(app)
    assert "is pinned" in written(app)
    assert (runs / newest).is_dir()


def test_a_viewer_compares_and_replays_but_cannot_edit(window, runs, monkeypatch):
    newest = NAMES[1]
    elsewhere = Peer(address="127.0.0.3", proxied=True)
    monkeypatch.setattr(control_right, "peer", lambda: elsewhere)
    window.button(key=f"lr_delete_{newest}").click()
    app = again(window)
    assert "You are watching" in written(app)
    assert (runs / newest).is_dir()
    assert app.text_input(key=f"lr_title_{newest}").disabled
    assert app.toggle(key=f"lr_pin_{newest}").disabled
    assert not app.button(key="lr_replay").disabled


def test_a_replay_is_a_link_that_says_so_and_shows_no_controls(window):
    window.button(key="lr_replay").click()
    app = again(window)
    assert (app.query_params["run"], app.query_params["speed"]) == (NAMES[1], "10")
    app = app.run()
    assert "A replay, 10 times as fast as it was." in written(app)
    data = browser_part(app, "live_chart")
    assert (data["speed"], data["controls"]) == (10.0, "hidden")
    app = app.button(key="lr_replay_end").click().run()
    assert "speed" not in app.query_params
