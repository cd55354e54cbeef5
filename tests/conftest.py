"""What holds for every test: nothing is written beside the code, and nobody speaks Chinese yet."""

import functools
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from streamlit.components.v2 import manifest_scanner

ROOT = Path(__file__).parents[1]
FOLDERS = ("B2G_STATE_DIR", "B2G_RUNS_DIR")
PLACE = pytest.StashKey[Path]()
counter = itertools.count()
# On shared cores one example may take a hundred times as long as the next.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


def pytest_configure(config):
    """Point state and runs away from the user's own, also for fixtures that live long."""
    place = tempfile.TemporaryDirectory(prefix="bits-to-gpt-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(place.cleanup)
    config.stash[PLACE] = Path(place.name)
    for name in FOLDERS:
        os.environ[name] = str(config.stash[PLACE] / name.lower())
    # small models gain nothing from a second thread, and test processes share the cores
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@pytest.fixture(scope="session")
def root():
    """The folder of the product."""
    return ROOT


@pytest.fixture(scope="session")
def fresh_python():
    """Return run(program, *arguments): what it prints in a separate process."""

    def run(program, *arguments):
        command = [sys.executable, "-c", program, *map(str, arguments)]
        child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert child.returncode == 0, child.stderr
        return child.stdout

    return run


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, pytestconfig):
    """Give every test, and every process that it starts, folders that nobody else uses."""
    number = next(counter)
    for name in FOLDERS:
        monkeypatch.setenv(name, str(pytestconfig.stash[PLACE] / str(number) / name.lower()))


@pytest.fixture(autouse=True)
def english():
    """Begin and end every test with the provider that answers English."""
    from core.language import install_provider

    install_provider(None)
    yield
    install_provider(None)


@pytest.fixture(scope="session", autouse=True)
def packages_read_once():
    """Streamlit reads every installed package anew for each app that a test opens: once will do."""
    manifests = functools.cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", manifests)
        yield


@pytest.fixture
def made_timing():
    """A measurement of a small config, made by hand."""
    from core.train.start.timing import Timing

    return Timing(
        seconds_per_step=0.002,
        fastest_seconds=0.001,
        slowest_seconds=0.003,
        num_steps_timed=20,
        precision="fp32",
        device="cpu",
        device_name="CPU",
        device_bytes=None,
        threads=1,
        flops=1e6,
        measured_at=0.0,
        tried={},
    )


def _check_scales(figure):
    """Check that a reader can tell the ticks of a scale apart: 1 2 2 3 3 is none."""
    layout = figure["layout"]
    scales = [value for name, value in layout.items() if name[:5] in {"xaxis", "yaxis"}]
    owners = [
        layout.get("coloraxis", {}),
        *figure["data"],
        *(t.get("marker", {}) for t in figure["data"]),
    ]
    scales += [owner["colorbar"] for owner in owners if isinstance(owner.get("colorbar"), dict)]
    for scale in scales:
        values, texts = scale.get("tickvals") or (), [*filter(None, scale.get("ticktext") or ())]
        # whole places are those of rows and columns, which may bear one name twice
        if (
            any(not isinstance(v, str) and v != int(v) for v in values)
            or scale.get("type") == "log"
        ):
            assert len(texts) == len({*texts}), texts
        form, (low, high) = scale.get("tickformat", ""), scale.get("range", (0, 0))
        rounds = form[-1:] in {"d", "%", "f", "e"} and "~" not in form
        # Plotly draws at most ten ticks: six whole numbers are no halves
        assert not rounds or values or "dtick" in scale or high - low > 5, form


def _check_ramps(figure):
    """Check that a ramp begins at the page's colour: in both themes the more, the more contrast."""
    from core.figures.theme import COLORS

    owners = [figure.layout.coloraxis, *(each for each in figure.data if each.type == "heatmap")]
    for owner in owners:
        ends = [color for _place, color in owner.colorscale or ()]
        is_ramp = len({*ends}) == len(ends) == 2
        if is_ramp and not {value for row in getattr(owner, "z", ()) for value in row} <= {
            0,
            1,
            None,
        }:
            page = COLORS[
                "dark" if figure.layout.paper_bgcolor == COLORS["dark"]["background"] else "light"
            ]
            assert ends[0] in {page["background"], page["surface"]}, ends


@pytest.fixture(autouse=True)
def checked_pictures(monkeypatch):
    """Let Plotly check every picture: the product draws them unchecked.

    What it would write in another way, a title in short for one, the browser would not understand.
    """
    from core.figures.picture import Drawing

    draw = Drawing.figure

    def checked(drawing, layout):
        from plotly.graph_objects import Figure

        figure = draw(drawing, layout)
        written = json.loads(figure.to_json())
        assert json.loads(Figure(figure.to_dict()).to_json()) == written
        _check_scales(written)
        _check_ramps(figure)
        return figure

    monkeypatch.setattr(Drawing, "figure", checked)


WRONG = (None, True, -1, float("inf"), 10**400, "x", [], {}, [[1]], [["a", "b", [[["c", "d"]]]]])


def _damaged(data):
    """Yield copies of a JSON object, in each of which one field is missing or of a wrong type."""
    for name, value in data.items():
        yield {key: kept for key, kept in data.items() if key != name}
        yield from ({**data, name: wrong} for wrong in WRONG)
        if isinstance(value, dict):
            yield from ({**data, name: each} for each in _damaged(value))


@pytest.fixture
def damaged():
    """Return damaged(data): copies of a JSON object, one field missing or of a wrong type each."""
    return _damaged


@pytest.fixture
def spoilt_run(tmp_path):
    """Return a finished run whose events.jsonl has damaged lines of every kind, and its events."""
    from core.train.run.events import read_events
    from core.train.run.recorded import recorded_run

    directory = shutil.copytree(
        recorded_run("one_minute"), tmp_path / "20260102t030405z-spoilt-00ff"
    )
    sound = read_events(directory)
    kinds = {event["kind"]: event for event in sound}
    told = {key: kinds["eval"][key] for key in ("seq", "time", "step", "attempt")}
    acks = {"op": "set_learning_rate_multiplier", "value": 0.5, "accepted": True, "reason": ""}
    kinds["ack"] = {**told, "kind": "ack", "command": 1, **acks}
    kinds["finding"] = {
        **told,
        "kind": "finding",
        "finding": "non_finite",
        "tensor": "a",
        "loss": 1,
    }
    kinds["sample"] = {**kinds["sample"], "written": kinds["sample"]["written"][:2]}
    kinds["state"] = {**kinds["state"], "values": {"free_bytes": 1}}
    lines = [json.dumps(each) for event in kinds.values() for each in _damaged(event)]
    with (directory / "events.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return directory, sound
