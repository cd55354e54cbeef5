"""Casts by who makes them, differences framed and explained; the tab with kept answers."""

from dataclasses import replace

import pytest

from core.dtypes.libraries.differences import differs
from core.dtypes.libraries.library import cast_rows, reader_pairs, telling_pairs
from core.dtypes.libraries.library_records import InfoRow, LibraryReport, OperationRow
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.picture import Look
from core.machine.kept_library import keep_library_report
from pages.dtypes.rounding_and_overflow import your_torch
from pages.dtypes.rounding_and_overflow.your_torch import (
    casts_picture,
    differing,
    reasons_of,
    sentence,
    worth_showing,
)
from pages.shared.dtypes import asked_report


@pytest.mark.parametrize("name", ["float8_e4m3fn", "bfloat16", "float6_e2m3fn", "float8_e8m0fnu"])
def test_every_answer_stands_in_its_cell(name):
    rows = rows_of(name)
    [cells] = casts_picture(name, rows, Look()).figure.data
    texts = dict(zip(zip(cells.x, cells.y, strict=True), cells.text, strict=True))
    assert len(texts) == 3 * len(rows)
    for y, row in enumerate(rows):
        assert texts[0, y] == digits(row.ours, 6)
        told = "–" if row.torch is None else digits(row.torch, 6)
        assert told in texts[1, y]
        assert digits(row.ml_dtypes, 6) in texts[2, y]


def test_each_reason_is_told_once_with_those_whom_it_concerns_and_an_unknown_one_says_so():
    reasons = reasons_of(differing(CASTS))
    assert len({told.sentence for told in reasons}) == 6
    assert len({(told.sentence, told.libraries) for told in reasons}) == len(reasons)
    [told] = reasons_of([replace(rows_of("float16")[0], torch=1.0)])
    assert told.sentence == "Nobody has explained this one yet."


def test_no_library_is_blamed_for_a_format_in_which_it_is_right():
    """NumPy, which ml_dtypes leans on, rounds a float64 to float16 once; torch has no float6."""
    twice = [told for told in reasons_of(CASTS) if "rounds twice" in told.sentence]

    by_format = {name: told.libraries for told in twice for name in told.formats}
    assert by_format["float16"] == ("torch",)
    assert by_format["float6_e2m3fn"] == ("ml_dtypes",)
    assert by_format["bfloat16"] == ("torch", "ml_dtypes")


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
def open_torch(open_tab):
    """Return open_torch(format, text, **query): the tab about a number cast to a format."""

    def open_one(name, text, **query):
        return open_tab("torch", rounding_format=name, rounding_value=text, **query)

    return open_one


@pytest.fixture
def asked():
    """Answers that are kept already, so that no child process is needed."""
    keep_library_report(REPORT)


def rows_of(name):
    return [row for row in CASTS if row.format == name]


def test_the_specification_stands_beside_torch_and_what_differs_is_marked(
    open_torch, asked, numbers_of, texts
):
    app = open_torch("float8_e4m3fn", "465")

    [chart] = app.get("plotly_chart")
    assert chart.proto.alt.startswith(
        "13 numbers cast to float8_e4m3fn. Other than specified: torch"
    )
    row = "just over that half step: 464.0000305… | NaN | **≠ 448** | NaN"
    assert row in numbers_of(app, "rounding_torch_casts")
    assert "This library saturates" in texts(app)
    assert "pytorch/pytorch PR #178817" in texts(app)
    assert "torch 2.13.0, ml_dtypes 0.6.0" in texts(app)
    said = app.session_state["headline"]
    assert said == "float8_e4m3fn: torch 2.13.0 differs in 5 of 12 probe values"


def test_the_readers_number_comes_first_and_torch_answers_when_it_is_asked(
    open_torch, asked, monkeypatch, numbers_of, texts
):
    app = open_torch("float8_e4m3fn", "465")
    said = "the number at the top of the page: 465 | NaN | {torch} | NaN"
    assert said.format(torch="–") in numbers_of(app, "rounding_torch_casts")

    answers = cast_rows(reader_pairs("465"))
    monkeypatch.setattr(your_torch, "cast_in_child", lambda _text: answers)
    app.button(key="rounding_torch_ask").click().run()

    assert said.format(torch="**≠ 448**") in numbers_of(app, "rounding_torch_casts")
    assert not [each for each in app.button if each.key == "rounding_torch_ask"]


def test_a_child_that_fails_is_told_in_a_sentence(open_torch, asked, monkeypatch):
    def fail(_text):
        raise ValueError("The program failed: out of luck")

    monkeypatch.setattr(your_torch, "cast_in_child", fail)
    app = open_torch("float16", "0.3217")
    app.button(key="rounding_torch_ask").click().run()

    assert [each.value for each in app.error] == ["The program failed: out of luck"]


def test_without_kept_answers_torch_is_asked_in_the_pool(open_torch, monkeypatch, numbers_of):
    calls = []

    def ask():
        calls.append(1)
        return REPORT

    monkeypatch.setattr(asked_report, "library_report", ask)
    app = open_torch("float16", "1")

    assert len(calls) == 1
    said = numbers_of(app, "rounding_torch_casts")
    assert any(row.startswith("half a step above the largest: 65520 |") for row in said)


@pytest.mark.parametrize("name", ["int8", "nf4", "float32", "tf32"])
def test_a_format_that_is_not_cast_to_says_which_are(open_torch, asked, name, texts):
    app = open_torch(name, "1")

    assert f"{name} is none: choose one of them" in texts(app)


def test_all_differences_name_their_reasons_and_formats(open_torch, asked, texts):
    app = open_torch("int8", "1", rounding_torch="differences")

    assert "| float8_e8m0fnu | minus one: -1 | NaN | **≠ 1** | NaN |" in texts(app)
    assert "The sign is dropped" in texts(app)
    assert "`bfloat16` `float8_e4m3fn` `float8_e5m2`" in texts(app)
    shown = [row for row in CASTS if worth_showing(row)]
    by_torch = sum(differs(row, "torch") for row in shown)
    said = f"of {len(shown)} probe values torch 2.13.0 differs in {by_torch}, ml_dtypes 0.6.0"
    assert said in app.session_state["headline"]
    assert "0x7FC0 for one number alone and 0xFFFF among 64" not in texts(app), "no difference"


def test_operations_show_torchs_own_words(open_torch, asked, numbers_of):
    app = open_torch("float16", "1", rounding_torch="operations")

    [chart] = app.get("plotly_chart")
    assert chart.proto.alt == "Of 1 operations work: float16 1; float8_e5m2 0."
    assert "float8_e5m2 | add | no sum" in numbers_of(app, "rounding_torch_operations")
    said = app.session_state["headline"]
    assert said == "float16: torch 2.13.0 on cpu does 1 of 1 operations"
    whole = open_torch("nf4", "1", rounding_torch="operations").session_state["headline"]
    assert whole == "floats: torch 2.13.0 on cpu does 1 of 2 operations"


def test_the_headline_of_a_format_that_torch_lacks():
    rows = rows_of("float6_e2m3fn")
    assert sentence("float6_e2m3fn", rows, "2.13") == "torch 2.13 has no float6_e2m3fn"
