"""The frame around the real pages, the server's options, and the hidden things we rely on."""

import ast
import builtins
import inspect
import json
import tomllib

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared.navigation import PAGES, page_row
from pages.shared.settings import DEFAULTS

each_page = pytest.mark.parametrize("key", [row.key for row in PAGES])


@pytest.fixture(scope="module")
def options():
    """What .streamlit/config.toml says."""
    from pathlib import Path

    path = Path(__file__).parents[2] / ".streamlit" / "config.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("server.address", "127.0.0.1"),
        ("server.allowedHosts", ["localhost", "127.0.0.1"]),
        ("server.fileWatcherType", "none"),
        ("server.maxUploadSize", 5),
        ("server.maxMessageSize", 20),
        ("runner.postScriptGC", False),
        ("runner.magicEnabled", False),
        ("browser.gatherUsageStats", False),
        ("client.toolbarMode", "viewer"),
        ("client.showErrorDetails", "none"),
        ("client.showErrorLinks", False),
    ],
)
def test_the_server_runs_with_the_options_of_the_design(options, name, value):
    section, _dot, option = name.partition(".")
    assert options[section][option] == value


def test_streamlit_knows_every_option_that_we_set(options):
    known = config.get_config_options()
    for section, values in options.items():
        for name, value in values.items():
            names = value if isinstance(value, dict) else [None]
            for inner in names:
                full = ".".join(filter(None, (section, name, inner)))
                assert full in known, full


def test_the_hidden_collection_after_each_run_still_has_its_switch():
    """A canary: without it every rerun costs 120 ms once torch is loaded."""
    from streamlit.runtime.scriptrunner import script_runner

    assert "runner.postScriptGC" in inspect.getsource(script_runner)


@pytest.mark.slow
def test_the_server_freezes_what_is_loaded_and_stops_with_its_streams(fresh_python):
    program = """
import asyncio, gc, signal, sys, threading
from app import app, lifespan
async def run():
    async with lifespan(app):
        for thread in threading.enumerate():
            if thread.name == "warm-up":
                thread.join()
        print(gc.get_freeze_count() > 50_000, signal.getsignal(signal.SIGTERM) != signal.SIG_DFL)
asyncio.run(run())
print("torch" in sys.modules)
"""
    assert fresh_python(program).splitlines() == ["True True", "True"]


def test_the_script_context_can_be_asked_for_quietly():
    """A canary for `get_script_run_ctx`, which Streamlit does not promise."""
    assert get_script_run_ctx(suppress_warning=True) is None


def test_inputs_still_bind_to_the_address_and_keep_their_value():
    """A canary for the two newest arguments that every input uses."""
    for widget in (st.slider, st.number_input, st.toggle, st.text_input):
        assert {"bind", "persist_state"} <= set(inspect.signature(widget).parameters)


OPENED = """
import json, sys
from streamlit.testing.v1 import AppTest
frame, page, queries, *names = sys.argv[1:]
for query in json.loads(queries):
    app = AppTest.from_file(frame, default_timeout=60).run()
    app.query_params.update(query)
    app.switch_page(page).run()
    assert not app.exception, app.exception
    assert app.session_state["headline"]
print(*[name for name in names if name in sys.modules])
"""
# These pages show what torch itself answers: they run it.
RUNS_TORCH = (
    *("tensors/", "autograd/", "models/"),
    *("train/data_and_batches", "start/spot_the_bug"),
)
LATE = {row.key: ("torch",) for row in PAGES if not row.key.startswith(RUNS_TORCH)} | {
    "start/home": ("torch", "pandas", "pyarrow", "altair"),
    "dtypes/bit_layouts": ("torch", "pandas"),
}
LABS = ("sums", "updates", "softmax", "scale")
QUERIES = {"dtypes/low_precision_training": [{"lowp_tab": tab} for tab in LABS]}


@pytest.mark.slow
@pytest.mark.parametrize("key", LATE)
def test_a_page_opens_without_loading_torch_into_the_server(root, fresh_python, key):
    paths = (root / "pages" / "frame.py", page_row(key).file)
    queries = json.dumps(QUERIES.get(key, [{}]))
    loaded = fresh_python(OPENED, *paths, queries, *LATE[key], "streamlit")
    assert loaded.split() == ["streamlit"]


@each_page
@pytest.mark.parametrize(
    "query",
    [{"present": "1"}, {"lock": "1"}, {"units": "GB"}, dict.fromkeys(DEFAULTS, "\x00<b>`9e99")],
    ids=["present", "lock", "GB", "nonsense"],
)
def test_every_page_opens_with_every_setting(open_page, probed, key, query):
    app = open_page(key, **query)
    assert [each.message for each in app.exception] == []
    refused = [each.value for each in app.caption if "was not accepted" in each.value]
    assert len(refused) == (4 if len(query) > 1 else 0)
    groups = (app.slider, app.number_input, app.select_slider, app.selectbox, app.toggle)
    inputs = [each for group in groups for each in group]
    inputs += [each for each in app.button_group if each.key.endswith("_choice")]
    free = {each.key for each in inputs if not each.disabled}
    assert query != {"lock": "1"} or free <= {"lang_choice", "units_choice", "present_choice"}


@pytest.mark.parametrize("page", ["plan/parallelism", "plan/training_memory"])
def test_code_for_this_computer_imports_all_that_it_names(open_page, probed, page):
    (code,) = (
        open_page(page, plan_device="local", plan_mfu="0.5").session_state["snippets"].values()
    )
    assert "local_device(probe_machine())" in code
    nodes = list(ast.walk(ast.parse(code)))
    names = [each for each in nodes if isinstance(each, ast.Name)]
    known = {
        alias.name for each in nodes if isinstance(each, ast.ImportFrom) for alias in each.names
    }
    known |= {each.id for each in names if isinstance(each.ctx, ast.Store)} | set(dir(builtins))
    assert {each.id for each in names} <= known
