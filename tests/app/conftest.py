"""Pages opened through the frame, without a browser and without starting child processes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.dtypes.libraries.library_records import LibraryReport, OperationRow
from core.machine import keep_probe
from core.machine.kept_library import keep_library_report
from core.machine.kept_probe import DtypeVerdict, Speed, Trial
from core.train.run.directory import runs_directory, write_info
from core.train.run.state import RunState, write_state
from pages.server import control_right, rate
from pages.shared import accepts
from pages.shared.navigation import page_row
from pages.shared.snippet import notebook
from tests.made_probe import CPU, PROBE

FRAME = Path(__file__).parents[2] / "pages" / "frame.py"
SECONDS = 60
LIBRARIES = LibraryReport(
    torch="2.13.0",
    devices=("cpu",),
    operations=(
        OperationRow(dtype="float16", device="cpu", operation="add", works=True),
        OperationRow(
            dtype="float8_e4m3fn", device="cpu", operation="add", works=False, message="no sum"
        ),
    ),
    infos=(),
)


@pytest.fixture(autouse=True)
def fresh_browser():
    """All sessions of AppTest bear one name: let each test begin as a browser that did nothing."""
    rate.turns.clear()
    control_right.run_owners.clear()


@pytest.fixture
def a_run():
    """A run of a minute on disk, finished."""
    run = runs_directory() / "20260102t030405z-one-minute-00ff"
    run.mkdir(parents=True)
    config = {"name": "one-minute", "num_steps": 100, "num_layers": 2}
    info = {"name": run.name, "created": 1_767_323_045.0, "config": config}
    write_info(run, {**info, "resolved": {"device": "cpu"}})
    write_state(run, RunState(state="finished", step=100, pid=1, time=1_767_323_100.0))
    return run


@pytest.fixture
def run_code(capsys):
    """Return run_code(app, name=""): what a snippet of the page prints, the only or that one.

    What runs are the cells of its notebook, one after the other.
    """

    def run(app, name=""):
        snippets = app.session_state["snippets"]
        if not name:
            (name,) = snippets
        space = {}
        for cell in json.loads(notebook(snippets[name], ""))["cells"]:
            if cell["cell_type"] == "code":
                exec(compile(cell["source"], name, "exec"), space)  # noqa: S102  what a reader takes
        return capsys.readouterr().out

    return run


@pytest.fixture
def open_page():
    """Return open_page(key, **query): the page of that key, run once with that address.

    `opened` are the keys of lists that are open from the first run, or what the session holds then.
    """

    def open_one(key, opened=(), **query):
        app = AppTest.from_file(str(FRAME), default_timeout=SECONDS)
        # switch_page knows the addresses only after a first run, which would show Home in vain
        app._page_hash = calc_hash(page_row(key).address if key != "start/home" else "")
        app.query_params.update(query)
        for each in opened:
            app.session_state[each] = opened[each] if isinstance(opened, dict) else True
        app.run()
        assert app.session_state["frame_book"].page == key
        return app

    return open_one


@pytest.fixture
def probed():
    """Keep a probe of a small machine, so that no page needs a child process to ask torch."""
    trials = tuple(
        Trial(operation=each, works=True) for each in ("create", "convert", "add", "matmul")
    )
    no_add = (*trials[:2], Trial(operation="add", works=False, message="no sum"), trials[3])
    dtypes = (
        DtypeVerdict(name="float32", item_bytes=4, trials=trials),
        DtypeVerdict(name="float8_e4m3fn", item_bytes=1, trials=no_add),
    )
    speed = Speed(what="matmul float32", unit="FLOP/s", median=2e9, low=1e9, high=3e9, num_runs=7)
    cpu = replace(CPU, memory_free=4 << 30, dtypes=dtypes, speeds=(speed,))
    probe = replace(PROBE, torch="2.13.0+cpu", cuda=None, num_threads=2, devices=(cpu,))
    keep_probe(probe)
    keep_library_report(LIBRARIES)
    return probe


@pytest.fixture
def options(monkeypatch):
    """The options of every choice, as it is made."""
    made, one_of = [], accepts.one_of

    def noted(choices, default):
        made.append(([str(each) for each in choices], str(default)))
        return one_of(choices, default)

    monkeypatch.setattr(accepts, "one_of", noted)
    return made
