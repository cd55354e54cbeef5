"""What holds for every test: nothing is written beside the code, and nobody speaks Chinese yet."""

import functools
import itertools
import json
import os
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
    """Return run(program, *arguments): what it prints in a process of its own."""

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
        assert json.loads(Figure(figure.to_dict()).to_json()) == json.loads(figure.to_json())
        return figure

    monkeypatch.setattr(Drawing, "figure", checked)
