"""A class guesses a run's last loss while it is young, and sees all guesses at its end."""

import json
from contextlib import ExitStack

import pytest

from core.train.run.records import StepRecord
from core.train.run.state import RunState, hold_worker_lock, write_state
from core.train.run.store import RunStore
from pages.train.live_run import guesses as room

PAGE = "train/live_run"


@pytest.fixture(autouse=True)
def fresh_guesses():
    room._guesses_of_runs.clear()


def record(step, loss):
    return StepRecord(
        step=step, time=1e9 + step, loss=loss, learning_rate=1e-3, grad_norm=1.0, seconds=0.01,
        tokens_per_second=1e3, resident_bytes=1 << 20,
    )  # fmt: skip


@pytest.fixture
def at(a_run):
    """Return at(step, state): the run is there; its losses are 4 / step."""
    written, lock = 0, ExitStack()

    def reach(step, state="running"):
        nonlocal written
        if state != "running":
            lock.close()
        elif not written:
            lock.enter_context(hold_worker_lock(a_run))
        with RunStore(a_run, 1) as store:
            for each in range(written + 1, step + 1):
                store.append_step(record(each, 4.0 / each))
        written = step
        write_state(a_run, RunState(state=state, step=step, pid=1, time=1e9))
        return a_run.name

    with lock:
        yield reach


def shown(app):
    return " ".join(str(each.value) for each in (*app.markdown, *app.caption))


def test_a_young_run_takes_one_guess_of_a_browser_the_latest(open_page, at):
    name = at(10)
    app = open_page(PAGE, lr_predict="true", run=name)
    assert not app.exception
    for loss in (2.0, 1.5):
        app.number_input(key="lr_guess").set_value(loss)
        app.button(key="lr_guess_it").click().run()
    assert list(room.guesses(name).values()) == [1.5]
    assert "1 guess so far." in shown(app)
    assert app.button(key="lr_guess_it").label == "Guess again"


def test_in_its_second_half_a_run_takes_none_also_of_a_page_that_is_older(open_page, at):
    name = at(10)
    app = open_page(PAGE, lr_predict="true", run=name)
    at(50)
    app.button(key="lr_guess_it").click().run()
    assert not room.guesses(name)
    assert [each.key for each in app.button if each.key == "lr_guess_it"] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_at_the_end_all_guesses_stand_beside_the_mean_of_the_last_losses(open_page, at, lang):
    name = at(100, "finished")
    for who, loss in (("a", 1.0), ("b", 3.0), ("c", 2.0)):
        room.guess(name, who, loss)
    app = open_page(PAGE, lang=lang, lr_predict="true", run=name)
    assert not app.exception
    loss = sum(4.0 / step for step in range(81, 101)) / 20
    told = shown(app)
    for number in (f"**{loss:.2f}**", "1.00", "3.00", "2.00"):
        assert number in told
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert sorted(figure["data"][0]["x"]) == [1.0, 2.0, 3.0]
    assert figure["layout"]["shapes"][0]["x0"] == pytest.approx(loss)


def test_ones_own_guess_is_named_with_how_far_it_was_off():
    told = room.sentence([1.0, 2.0], 2.0, 1.25)
    assert told.endswith("yours, 2.00, is off by 0.75.")


def test_old_runs_and_more_browsers_than_a_class_has_are_let_go():
    for number in range(room.MAX_RUNS + 3):
        room.guess(f"run {number}", "a", 1.0)
    assert not room.guesses("run 2")
    assert room.guesses("run 3")
    for number in range(room.MAX_GUESSES + 5):
        room.guess("full", f"browser {number}", 1.0)
    room.guess("full", "browser 0", 2.0)
    assert len(room.guesses("full")) == room.MAX_GUESSES
    assert room.guesses("full")["browser 0"] == 2.0


def test_a_run_whose_losses_are_no_numbers_shows_no_answer(open_page, at, a_run):
    name = at(10, "stopped")
    with RunStore(a_run, 1) as store:
        store.append_step(record(11, float("nan")))
    write_state(a_run, RunState(state="stopped", step=11, pid=1, time=1e9))
    room.guess(name, "a", 1.0)
    app = open_page(PAGE, lr_predict="true", run=name)
    assert not app.exception
    assert not app.get("plotly_chart")
