"""A run on a GPU offers a memory snapshot of a step, and opens it in Diagnose."""

import json
import os
import pickle

import pytest

from core.train.run.directory import CONTROL_FOLDER, SNAPSHOT_FILE, runs_directory
from core.train.run.state import RunState, hold_worker_lock, write_state
from core.units import format_bytes
from pages.server.snapshots import SENT, snapshots
from tests.core.budget.diagnosis.made_snapshot import two_steps

PAGE = "train/live_run"
NAME = "20260102t030405z-one-minute-00aa"


@pytest.fixture
def run_on():
    """Return make(device): the directory of a run that trains there now."""
    held = []

    def make(device):
        run = runs_directory() / NAME
        run.mkdir(parents=True)
        info = {"format_version": 1, "name": NAME, "created": 1_767_323_045.0}
        info |= {"config": {"name": "one-minute"}, "resolved": {"device": device}}
        (run / "run.json").write_text(json.dumps(info), encoding="utf-8")
        held.append(hold_worker_lock(run))
        held[-1].__enter__()
        write_state(run, RunState(state="running", step=3, pid=os.getpid()))
        return run

    yield make
    for each in held:
        each.__exit__(None, None, None)


def keys(app):
    return {each.key for each in app.button}


def test_a_run_on_the_cpu_offers_none(open_page, run_on):
    run_on("cpu")
    assert "lr_snapshot_record" not in keys(open_page(PAGE))


def test_a_step_is_recorded_and_what_came_of_it_is_kept_or_opened_in_diagnose(open_page, run_on):
    run = run_on("cuda")
    app = open_page(PAGE)
    assert "lr_snapshot_open" not in keys(app)
    app.button(key="lr_snapshot_record").click().run()
    assert not app.exception
    (command,) = (run / CONTROL_FOLDER).glob("*.json")
    assert json.loads(command.read_text(encoding="utf-8"))["op"] == "snapshot"
    made = two_steps()
    (run / SNAPSHOT_FILE).write_bytes(pickle.dumps(made.dump()))
    app.run()
    size = format_bytes((run / SNAPSHOT_FILE).stat().st_size)
    assert f"Download ({size})" in [each.proto.label for each in app.get("download_button")]
    app.button(key="lr_snapshot_open").click().run()
    assert not app.exception
    key, name = app.session_state[SENT]
    assert name == SNAPSHOT_FILE
    assert format_bytes(max(each[0] for each in made.told)) in app.session_state["headline"]
    assert snapshots().answers(key)


def test_who_may_not_control_a_run_records_nothing_and_an_ended_one_has_no_next_step(
    open_page, run_on
):
    run = run_on("cuda")
    assert open_page(PAGE, lock="1").button(key="lr_snapshot_record").disabled
    write_state(run, RunState(state="finished", step=3, pid=1))
    assert open_page(PAGE).button(key="lr_snapshot_record").disabled


def test_a_disk_that_takes_no_command_is_said(open_page, run_on):
    run = run_on("cuda")
    (run / CONTROL_FOLDER).write_bytes(b"")  # where the folder would be
    app = open_page(PAGE)
    app.button(key="lr_snapshot_record").click().run()
    assert not app.exception
    (error,) = app.error
    assert CONTROL_FOLDER in error.value
