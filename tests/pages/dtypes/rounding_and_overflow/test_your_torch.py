"""Operations tried on torch's dtypes, with kept answers; a child that fails."""

import pytest

from core.dtypes.libraries.library_records import InfoRow, LibraryReport, OperationRow
from core.machine.kept_library import keep_library_report
from pages.shared.dtypes import asked_report

OPERATIONS = (
    OperationRow(dtype="float16", device="cpu", operation="add", works=True),
    OperationRow(dtype="float8_e5m2", device="cpu", operation="add", works=False, message="no sum"),
    OperationRow(dtype="int4", device="cpu", operation="add", works=False, message="no copy"),
)
REPORT = LibraryReport(
    torch="2.13.0",
    devices=("cpu",),
    operations=OPERATIONS,
    infos=(InfoRow(dtype="float16", quantity="max", value=65504.0),),
)


@pytest.fixture
def asked():
    """Answers that are kept already, so that no child process is needed."""
    keep_library_report(REPORT)


def test_a_child_that_fails_is_told_in_a_sentence(open_tab, monkeypatch):
    def fail():
        raise ValueError("The program failed: out of luck")

    monkeypatch.setattr(asked_report, "library_report", fail)
    app = open_tab("torch", rounding_format="float16")

    assert [each.value for each in app.error] == ["The program failed: out of luck"]


def test_without_kept_answers_torch_is_asked_in_the_pool(open_tab, monkeypatch, numbers_of):
    calls = []

    def ask():
        calls.append(1)
        return REPORT

    monkeypatch.setattr(asked_report, "library_report", ask)
    app = open_tab("torch", rounding_format="float16")

    assert len(calls) == 1
    assert "float8_e5m2 | add | no sum" in numbers_of(app, "rounding_torch_operations")


def test_operations_show_torchs_own_words(open_tab, asked, numbers_of):
    app = open_tab("torch", rounding_format="float16")

    [chart] = app.get("plotly_chart")
    assert chart.proto.alt == "Of 1 operations work: float16 1; float8_e5m2 0."
    assert "float8_e5m2 | add | no sum" in numbers_of(app, "rounding_torch_operations")
    said = app.session_state["headline"]
    assert said == "float16: torch 2.13.0 on cpu does 1 of 1 operations"
    whole = open_tab("torch", rounding_format="nf4").session_state["headline"]
    assert whole == "floats: torch 2.13.0 on cpu does 1 of 2 operations"
