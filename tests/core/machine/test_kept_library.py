"""What torch does, asked once and kept."""

import json
from dataclasses import asdict, replace

import pytest

from core.dtypes.libraries.library_records import LibraryReport, OperationRow
from core.machine import describe_machine, kept_library
from core.machine.kept_library import (
    cached_library_report,
    keep_library_report,
    library_report,
)

ROW = OperationRow(dtype="float16", device="cpu", operation="add", works=True)
REPORT = LibraryReport(torch="2.13.0", devices=("cpu",), operations=(ROW,), infos=())


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
    other = replace(describe_machine(), versions=(("torch", "9.9"),))
    monkeypatch.setattr(kept_library, "describe_machine", lambda: other)
    assert cached_library_report() is None


@pytest.mark.slow
def test_the_server_process_gets_answers_without_loading_torch(fresh_python):
    program = (
        "import sys; from core.machine.kept_library import library_report;"
        "print(len(library_report().operations) > 100, 'torch' in sys.modules)"
    )
    assert fresh_python(program).split() == ["True", "False"]
