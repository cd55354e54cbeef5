"""Strides and views: where elements lie, what is a view, why a view is refused."""

import json
import struct
from urllib.parse import parse_qs

import pytest
import torch

from core.tensors.examples import PRESETS
from core.tensors.trace import layout_of
from core.tensors.views import explain_view
from pages.shared.start.torch_errors import load_torch_errors
from tests.app.shown import browser_part, page_links, texts

PAGE = "tensors/strides_and_views"
LINKED = [error for error in load_torch_errors() if error.page == PAGE]


def headline(app):
    assert not app.exception
    return app.session_state["headline"]


def test_the_headline_adds_the_jumps_up(open_page, run_code):
    app = open_page(PAGE)
    assert "Element [1, 2] of `x.t()` is stored at 0 + 1·1 + 2·4 = 9 " in headline(app)
    assert run_code(app).strip() == "(4, 4) (1, 4) 0"


def test_a_link_names_a_step_and_an_element(open_page):
    assert "[3, 0] of `x` is stored at 0 + 3·4 + 0·1 = 12 " in headline(
        open_page(PAGE, strides_at="0:3,0")
    )


@pytest.mark.parametrize("at", ["9:1,2", "1:7,7", "1:1", "a:b", "-1:1,2", "1:1,2,3", ":"])
def test_an_element_that_is_not_there_gives_way_to_one_that_is(open_page, at):
    assert "= 9" in headline(open_page(PAGE, strides_at=at))


@pytest.mark.parametrize("error", LINKED, ids=lambda error: error.slug)
def test_errors_that_home_knows_happen_here_in_torchs_own_words(open_page, error):
    query = {name: value for name, value in error.query.items() if name != "strides_tab"}
    app = open_page(PAGE, **query)
    assert not app.exception
    assert error.text.split("\n")[0] in [code.value.split("\n")[0] for code in app.code]
    assert headline(app).endswith("is refused.") or "cannot be viewed" in headline(app)


def test_heads_that_cannot_be_merged_are_named_with_need_have_and_bytes(open_page):
    app = open_page(
        PAGE,
        strides_tab="why",
        strides_code="x.transpose(1, 2).view(2, 128, 768)",
        strides_leading="2, 12",
        strides_rows="128",
        strides_columns="64",
    )
    (pair,) = explain_view((2, 128, 12, 64), (98304, 64, 8192, 1), (2, 128, 768)).failures
    assert f"dimensions {pair.dim} and {pair.right} cannot be merged" in headline(app)
    said = " ".join(texts(app))
    assert f"**{pair.need}**" in said
    assert f"**{pair.have}**" in said
    assert "768 KiB" in said


def test_a_large_tensor_has_layouts_and_bytes_without_data(open_page):
    app = open_page(
        PAGE,
        strides_code="x[:, :-1].reshape(-1, 128256)",
        strides_leading="8",
        strides_rows="4096",
        strides_columns="128256",
        strides_dtype="bfloat16",
    )
    assert "a copy of 7.83 GiB" in headline(app)


def test_the_steps_come_as_a_file_too(open_page):
    app = open_page(PAGE, strides_code="x.t()", strides_rows="1024", strides_columns="1024")
    assert [each.proto.label for each in app.get("download_button")] == ["CSV"]


@pytest.mark.parametrize("leading", ["a", "1,2,3,4,5,6,7,8,9", "-5", "2;3", "1e9", "9999999999"])
def test_lengths_that_are_none_are_refused_in_a_sentence(open_page, leading):
    app = open_page(PAGE, strides_leading=leading)
    assert not app.exception
    assert any("list of up to 8 lengths" in error.value for error in app.error)


@pytest.mark.parametrize("code", ["x.__class__", "import os", "x.numpy()", "((", "", "x.t"])
def test_what_may_not_be_written_is_said_with_its_place(open_page, code):
    app = open_page(PAGE, strides_code=code)
    assert not app.exception
    assert any("(line 1, column" in text for text in texts(app))


def test_a_refused_view_is_named_at_first_sight_with_a_way_to_the_reason(open_page):
    app = open_page(
        PAGE, strides_code="y = x.t()\nz = x[0]\ny.view(6)", strides_rows="2", strides_columns="3"
    )
    (pair,) = explain_view((3, 2), (1, 3), (6,)).failures
    assert f"stride {pair.have} instead of {pair.need}" in headline(app)
    app.button(key="strides_to_why").click().run()
    assert "cannot be viewed as (6,)" in headline(app)
    assert f"**{pair.need}**" in " ".join(texts(app))


def test_an_element_opens_on_bit_layouts_and_a_models_tensor_in_training_memory(open_page):
    links = {each.page: each.query_string for each in page_links(open_page(PAGE))}
    assert "bits_format=float32" in links["bit-layouts"]
    assert hex(struct.unpack("I", struct.pack("f", 9.0))[0]).upper()[2:] in links["bit-layouts"]

    preset = PRESETS["shift_8b"]
    leading, rows, columns = map(str, preset.shape)
    app = open_page(
        PAGE, strides_code=preset.source, strides_leading=leading, strides_rows=rows,
        strides_columns=columns, strides_dtype=preset.dtype,
    )  # fmt: skip
    (query,) = [each.query_string for each in page_links(app) if each.page == "training-memory"]
    assert parse_qs(query) == {
        "plan_model": [preset.model],
        "plan_batch": [str(preset.batch)],
        "plan_length": [str(preset.seq)],
    }


def test_the_values_of_large_storages_stay_below_64_kib(open_page):
    copies = "y = x.t().contiguous()\nz = y.t().contiguous()\nz.t().contiguous()"
    app = open_page(PAGE, strides_code=copies, strides_rows="64", strides_columns="64")
    ((sent,),) = [browser_part(app, "tensor_map")]
    values = [storage["values"] for storage in sent["storages"].values()]
    assert len(values) == 4
    assert len(values[0]) == 4096
    assert sum(len(json.dumps(each, separators=(",", ":"))) for each in values) < 65_600


@pytest.mark.parametrize(
    ("leading", "code", "told"),
    [
        ("2, 3", "y = x.contiguous(memory_format=torch.channels_last)\ny.contiguous()",
         "yes"),
        ("2, 3", "x.transpose(2, 3)", "no"),
        ("2, 1", "x.clone()", "yes, and channels_last"),
        ("1, 2, 3", "x.permute(0, 4, 1, 2, 3)", "channels_last_3d"),
        ("3", "x.clone()", "yes"),
    ],
)  # fmt: skip
def test_the_note_says_in_which_memory_format_a_tensor_is_contiguous(
    open_page, leading, code, told
):
    app = open_page(
        PAGE, strides_code=code, strides_leading=leading, strides_rows="4",
        strides_columns="5",
    )  # fmt: skip
    assert not app.exception
    assert any(f"contiguous: {told}" in text for text in texts(app))


def test_what_a_step_copied_and_what_reading_costs_is_said(open_page):
    assert headline(open_page(PAGE, strides_code="x.sum()")).endswith("in its storage")
    assert "a copy of 64 B" in headline(open_page(PAGE, strides_code="(x + 1).t().reshape(-1)"))
    app = open_page(PAGE, strides_rows="64", strides_columns="64")
    layout = layout_of(torch.empty(64, 64).t())
    counts = f"{layout.line_changes():,} times; {layout.lines_touched()} lines hold it"
    assert any(counts in text for text in texts(app))


def test_the_wanted_shape_is_all_in_a_row_at_first_and_then_what_the_program_was_refused(open_page):
    app = open_page(PAGE, strides_tab="why")
    assert app.text_input(key="strides_target").value == "-1"
    assert "(4, 4) cannot be viewed as (16,)" in headline(app)
    assert any("spans across two contiguous subspaces" in each.value for each in app.code)
    assert any("`(x.t()).reshape(16)`" in text for text in texts(app))

    app.text_area(key="strides_field").set_value("y = x.t()\ny.view(2, 8)").run()
    assert app.text_input(key="strides_target").value == "2, 8"
    assert "(4, 4) cannot be viewed as (2, 8)" in headline(app)
    app.text_area(key="strides_field").set_value("y = x.t()\ny.view(8, 2)").run()
    assert app.text_input(key="strides_target").value == "8, 2"
    app.text_input(key="strides_target").set_value("4, 4").run()
    assert "can be viewed as (4, 4)" in headline(app)
