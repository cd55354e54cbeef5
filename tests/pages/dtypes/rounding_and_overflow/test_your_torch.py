"""The panel about this torch: kept answers, what differs and why, the reader's number."""

import math
from dataclasses import replace

import pytest

from core.dtypes.libraries.library import cast_rows, reader_pairs, telling_pairs
from core.dtypes.libraries.library_records import InfoRow, LibraryReport, OperationRow
from core.figures.dtypes.rounding_and_overflow.library_casts import (
    cast_table,
    casts_headline,
    differing,
    length_words,
    reasons_of,
    worth_showing,
)
from core.machine.kept_library import keep_library_report
from pages.dtypes.rounding_and_overflow import your_torch
from pages.shared.dtypes import asked_report

SCRIPT = """
from core.dtypes import FORMATS
from pages.dtypes.rounding_and_overflow.your_torch import show_your_torch, torch_headline
st.session_state["said"] = torch_headline(FORMATS[{format!r}])
show_your_torch({text!r}, FORMATS[{format!r}])
"""
CASTS = cast_rows(telling_pairs())
OPERATIONS = (
    OperationRow(dtype="float16", device="cpu", operation="add", works=True),
    OperationRow(dtype="float8_e5m2", device="cpu", operation="add", works=False, message="no sum"),
    OperationRow(dtype="int4", device="cpu", operation="add", works=False, message="no copy"),
)
REPORT = LibraryReport(
    torch="2.13.0",
    ml_dtypes="0.6.0",
    devices=("cpu",),
    casts=CASTS,
    operations=OPERATIONS,
    infos=(InfoRow(dtype="float16", quantity="max", value=65504.0),),
)


@pytest.fixture
def asked():
    """Answers that are kept already, so that no child process is needed."""
    keep_library_report(REPORT)


def texts(app):
    return " ".join(each.value for each in (*app.markdown, *app.caption))


def rows_of(name):
    return [row for row in CASTS if row.format == name]


def test_the_specification_stands_beside_torch_and_what_differs_is_marked(
    open_script, asked, numbers_of
):
    app = open_script(SCRIPT.format(format="float8_e4m3fn", text="465"))

    [chart] = app.get("plotly_chart")
    assert chart.proto.alt.startswith(
        "13 numbers cast to float8_e4m3fn. Other than specified: torch"
    )
    row = "| just over that half step: 464.0000305… | NaN | **≠ 448** | NaN |"
    assert row in numbers_of(app, "rounding_casts")
    assert "This library saturates" in texts(app)
    assert "pytorch/pytorch PR #178817" in texts(app)
    assert "torch 2.13.0, ml_dtypes 0.6.0" in texts(app)
    said = app.session_state["said"]
    assert said == "float8_e4m3fn: torch 2.13.0 differs in 5 of 12 telling numbers"


def test_the_readers_number_comes_first_and_torch_answers_when_it_is_asked(
    open_script, asked, monkeypatch, numbers_of
):
    app = open_script(SCRIPT.format(format="float8_e4m3fn", text="465"))
    said = numbers_of(app, "rounding_casts")
    assert "| the number at the top of the page: 465 | NaN | – | NaN |" in said

    answers = cast_rows(reader_pairs("465"))
    monkeypatch.setattr(your_torch, "cast_in_child", lambda _text: answers)
    app.button(key="rounding_torch_ask").click().run()

    assert "| the number at the top of the page: 465 | NaN | **≠ 448** | NaN |" in texts(app)
    assert not [each for each in app.button if each.key == "rounding_torch_ask"]


def test_a_child_that_fails_is_told_in_a_sentence(open_script, asked, monkeypatch):
    def fail(_text):
        raise ValueError("The program failed: out of luck")

    monkeypatch.setattr(your_torch, "cast_in_child", fail)
    app = open_script(SCRIPT.format(format="float16", text="0.3217"))
    app.button(key="rounding_torch_ask").click().run()

    assert [each.value for each in app.error] == ["The program failed: out of luck"]


def test_without_kept_answers_torch_is_asked_in_the_pool(open_script, monkeypatch, numbers_of):
    calls = []

    def ask():
        calls.append(1)
        return REPORT

    monkeypatch.setattr(asked_report, "library_report", ask)
    app = open_script(SCRIPT.format(format="float16", text="1"))

    assert len(calls) == 1
    assert app.session_state["said"] == "What your torch does: ask it below"
    said = numbers_of(app, "rounding_casts")
    assert "| half a step above the largest: 65,520 |" in said.replace("65520", "65,520")


def test_torch_that_cannot_be_asked_is_told_in_a_sentence(open_script, monkeypatch):
    def fail():
        raise ValueError("The program failed: no torch")

    monkeypatch.setattr(asked_report, "library_report", fail)
    app = open_script(SCRIPT.format(format="float16", text="1"))

    assert [each.value for each in app.error] == ["The program failed: no torch"]


@pytest.mark.parametrize("name", ["int8", "nf4", "float32", "tf32"])
def test_a_format_that_is_not_cast_to_says_which_are(open_script, asked, name):
    app = open_script(SCRIPT.format(format=name, text="1"))

    assert f"{name} is none: choose one of them" in texts(app)


def test_all_differences_name_their_reasons_and_formats(open_script, asked):
    app = open_script(SCRIPT.format(format="int8", text="1"), rounding_torch="differences")

    assert "| float8_e8m0fnu | minus one: -1 | NaN | **≠ 1** | NaN |" in texts(app)
    assert "The sign is dropped" in texts(app)
    assert "`bfloat16` `float8_e4m3fn` `float8_e5m2`" in texts(app)
    assert "0x7FC0 for one number alone and 0xFFFF among 64" not in texts(app), "no difference"


def test_operations_show_torchs_own_words(open_script, asked, numbers_of):
    app = open_script(SCRIPT.format(format="float16", text="1"), rounding_torch="operations")

    [chart] = app.get("plotly_chart")
    assert chart.proto.alt == "Of 1 operations work: float16 1; float8_e5m2 0."
    assert "| float8_e5m2 | add | no sum |" in numbers_of(app, "rounding_operations")


def test_a_device_that_is_not_there_says_so(open_script, asked):
    link = {"rounding_torch": "operations", "rounding_device": "accelerator"}
    app = open_script(SCRIPT.format(format="float16", text="1"), **link)

    assert "n/a on this device" in texts(app)
    assert not app.get("plotly_chart")


def test_the_headline_of_a_format_that_torch_lacks():
    rows = rows_of("float6_e2m3fn")
    assert casts_headline("float6_e2m3fn", rows, "2.13") == "torch 2.13 has no float6_e2m3fn"


def test_two_codes_of_nan_are_shown_and_explained():
    rows = rows_of("bfloat16")
    assert "NaN (0x7FC0 / 0xFFFF)" in cast_table(rows)["torch"]
    assert "0x7FC0 for one number alone and 0xFFFF among 64" in length_words(rows)
    assert length_words(rows_of("float16")) == ""


def test_a_quiet_nan_is_not_worth_a_row():
    shown = {name: sum(map(worth_showing, rows_of(name))) for name in ("float16", "bfloat16")}
    assert shown == {"float16": len(rows_of("float16")) - 1, "bfloat16": len(rows_of("bfloat16"))}


def test_each_reason_is_told_once_with_those_whom_it_concerns():
    reasons = reasons_of(differing(CASTS))
    assert len({told.sentence for told in reasons}) == 6
    assert len({(told.sentence, told.libraries) for told in reasons}) == len(reasons)


def test_a_difference_without_a_known_reason_says_so():
    strange = replace(rows_of("float16")[0], torch=1.0)
    [told] = reasons_of([strange])
    assert told.sentence == "Nobody has explained this one yet."


def test_every_number_is_written_with_its_sign():
    zero = next(row for row in rows_of("float16") if row.case == "minus_zero")
    assert cast_table([zero])["the number"] == ["minus zero: -0"]
    assert math.copysign(1, zero.torch) < 0


def test_no_library_is_blamed_for_a_format_in_which_it_is_right():
    """NumPy, which ml_dtypes leans on, rounds a float64 to float16 once; torch has no float6."""
    twice = [told for told in reasons_of(CASTS) if "rounds twice" in told.sentence]

    by_format = {name: told.libraries for told in twice for name in told.formats}
    assert by_format["float16"] == ("torch",)
    assert by_format["float6_e2m3fn"] == ("ml_dtypes",)
    assert by_format["bfloat16"] == ("torch", "ml_dtypes")
