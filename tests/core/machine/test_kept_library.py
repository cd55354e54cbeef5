"""What the libraries do, asked once and kept."""

import json
import math
from dataclasses import asdict

import pytest

from core.dtypes.libraries.library_records import CastRow, LibraryReport
from core.machine import kept_library
from core.machine.kept_library import (
    cached_library_report,
    cast_in_child,
    keep_library_report,
    library_report,
)

CAST = CastRow(
    format="float16", case="far", source="float32", value=1e30, ours=math.inf,
    torch=math.inf, torch_code=0x7C00, torch_code_long=0x7C00, ml_dtypes=None,
)  # fmt: skip
REPORT = LibraryReport(
    torch="2.13.0", ml_dtypes="0.6.0", devices=("cpu",), casts=(CAST,), operations=(), infos=()
)


def test_answers_are_asked_for_once_and_kept(monkeypatch):
    calls = []

    def lines(*_args, **_options):
        calls.append(1)
        return iter([json.dumps(asdict(REPORT))])

    monkeypatch.setattr(kept_library, "lines_of", lines)
    assert cached_library_report() is None
    assert library_report() == REPORT
    assert library_report() == cached_library_report() == REPORT
    assert len(calls) == 1


def test_another_torch_needs_other_answers(monkeypatch):
    keep_library_report(REPORT)
    assert cached_library_report() == REPORT
    monkeypatch.setattr(kept_library, "installed_version", lambda _name: "9.9")
    assert cached_library_report() is None


def test_a_readers_number_is_asked_about(monkeypatch):
    asked = []

    def lines(_module, arguments, **_options):
        asked.extend(arguments)
        return iter([json.dumps([asdict(REPORT)["casts"][0]])])

    monkeypatch.setattr(kept_library, "lines_of", lines)
    assert cast_in_child("-1e30") == (CAST,)
    assert asked == ["--value=-1e30"]


def test_what_is_no_number_starts_no_child(monkeypatch):
    monkeypatch.setattr(kept_library, "lines_of", None)
    with pytest.raises(ValueError, match="“seven” is not a number"):
        cast_in_child("seven")


@pytest.mark.slow
def test_the_server_process_gets_answers_without_loading_torch(fresh_python):
    program = (
        "import sys; from core.machine.kept_library import library_report, cast_in_child;"
        "report, casts = library_report(), cast_in_child('-465');"
        "e4m3 = next(row for row in casts if row.format == 'float8_e4m3fn');"
        "print(len(report.casts) > 100, len(casts), e4m3.torch, 'torch' in sys.modules)"
    )
    assert fresh_python(program).split() == ["True", "13", "-448.0", "False"]
