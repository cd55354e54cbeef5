"""Pages opened through the frame, without a browser and without starting child processes."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.dtypes.libraries.library_records import CastRow, LibraryReport, OperationRow
from core.machine import keep_probe
from core.machine.kept_library import keep_library_report
from core.machine.kept_probe import Device, DtypeVerdict, Probe, Speed, Trial
from pages.shared.navigation import page_row

FRAME = Path(__file__).parents[2] / "pages" / "frame.py"
ROOT = Path(__file__).parents[2]
SECONDS = 60
OPENED = """
import sys
from streamlit.testing.v1 import AppTest
frame, page, *names = sys.argv[1:]
app = AppTest.from_file(frame, default_timeout=60).run()
app.switch_page(page).run()
assert not app.exception, app.exception
assert app.session_state["headline"]
print(*[name for name in names if name in sys.modules])
"""
# One number that torch 2.13 treats otherwise than the specification, and one that it does not.
LIBRARIES = LibraryReport(
    torch="2.13.0",
    ml_dtypes="0.6.0",
    devices=("cpu",),
    casts=tuple(
        CastRow(
            format="float8_e4m3fn",
            case="reader",
            source="float32",
            value=value,
            ours=ours,
            torch=448.0,
            torch_code=0x7E,
            torch_code_long=0x7E,
            ml_dtypes=ours,
        )
        for value, ours in ((464.0, 448.0), (465.0, math.nan))
    ),
    operations=(
        OperationRow(dtype="float16", device="cpu", operation="add", works=True),
        OperationRow(
            dtype="float8_e4m3fn", device="cpu", operation="add", works=False, message="no sum"
        ),
    ),
    infos=(),
)


@pytest.fixture
def loaded_by():
    """Return loaded_by(key, *names): which of these modules a fresh process has after the page."""

    def ask(key, *names):
        paths = [str(FRAME), str(page_row(key).file)]
        command = [sys.executable, "-c", OPENED, *paths, *names]
        child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert child.returncode == 0, child.stderr
        return child.stdout.split()

    return ask


@pytest.fixture
def open_page():
    """Return open_page(key, **query): the page of that key, run once with that address."""

    def open_one(key, **query):
        app = AppTest.from_file(str(FRAME), default_timeout=SECONDS)
        # switch_page knows the addresses only after a first run, which would show Home in vain
        app._page_hash = calc_hash(page_row(key).address if key != "start/home" else "")
        app.query_params.update(query)
        app.run()
        assert app.session_state["frame_page"] == key
        return app

    return open_one


@pytest.fixture
def probed():
    """Keep a probe of a small machine, so that no page needs a child process to ask torch."""
    trials = tuple(
        Trial(operation=each, works=True) for each in ("create", "convert", "add", "matmul")
    )
    no_add = (*trials[:2], Trial(operation="add", works=False, message="no sum"), trials[3])
    cpu = Device(
        kind="cpu",
        torch_name="cpu",
        name="A CPU",
        memory_total=8 << 30,
        memory_free=4 << 30,
        capability="AVX2",
        dtypes=(
            DtypeVerdict(name="float32", item_bytes=4, trials=trials),
            DtypeVerdict(name="float8_e4m3fn", item_bytes=1, trials=no_add),
        ),
        speeds=(
            Speed(what="matmul float32", unit="FLOP/s", median=2e9, low=1e9, high=3e9, num_runs=7),
        ),
    )
    probe = Probe(
        torch="2.13.0+cpu",
        cuda=None,
        rocm=None,
        kernels=("oneDNN v3.12.0",),
        num_threads=2,
        cpu_name="A CPU",
        features=(("AVX2", True), ("AMX", False)),
        devices=(cpu,),
    )
    keep_probe(probe)
    keep_library_report(LIBRARIES)
    return probe
