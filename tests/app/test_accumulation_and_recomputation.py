"""Accumulation and recomputation: what is kept for backward, and what backward adds to."""

from urllib.parse import parse_qs

import pytest

from core.autograd.layer_stack import Stack
from core.autograd.recomputation import compare
from tests.app.shown import alt, ask, commit, headline, page_links, said

PAGE = "autograd/accumulation_and_recomputation"


def test_the_headline_is_what_was_measured_and_its_code_measures_the_same(open_page, run_code):
    app = open_page(PAGE)
    both = compare(Stack(), 4)
    assert "256 KiB with a checkpoint every 4 layers, 1.00 MiB without" in headline(app)
    assert headline(app).endswith("FLOPs +33.3 %")
    printed = run_code(app)
    assert f"none {both.plain.held} {both.plain.flops}" in printed
    assert f"4 {both.checkpointed.held} {both.checkpointed.flops}" in printed
    assert "448 KiB" in alt(app)


def test_the_segment_leads_on_to_training_memory(open_page):
    app = open_page(PAGE, accum_segment="8")
    (query,) = [each.query_string for each in page_links(app) if each.page == "training-memory"]
    assert parse_qs(query) == {"plan_checkpointing": ["every_k"], "plan_every": ["8"]}


def test_gelu_gains_where_relu_does_not(open_page):
    relu = open_page(PAGE, accum_segment="1")
    assert "1.00 MiB with a checkpoint at every layer, 1.00 MiB without" in headline(relu)
    app = open_page(PAGE, accum_segment="1", accum_layer="gelu")
    assert "1.00 MiB with a checkpoint at every layer, 2.00 MiB without" in headline(app)


@pytest.mark.parametrize("tab", ["checkpointing", "counting", "trade"])
@pytest.mark.parametrize(("layers", "batch", "width"), [("4", "8", "64"), ("32", "128", "128")])
def test_both_ends_of_the_sliders_are_measured(open_page, tab, layers, batch, width):
    query = {"accum_layers": layers, "accum_batch": batch, "accum_width": width}
    app = open_page(PAGE, accum_tab=tab, **query)
    assert headline(app)
    assert not app.error


@pytest.mark.parametrize("tab", ["checkpointing", "counting", "trade"])
def test_on_a_projector_a_tab_is_a_headline_and_a_picture(open_page, tab):
    app = open_page(PAGE, accum_tab=tab, present="1")
    assert headline(app)
    assert len(app.get("plotly_chart")) == 1
    assert not app.metric


def test_calls_of_backward_add_up_until_they_are_reset(open_page, run_code):
    app = open_page(PAGE, accum_tab="counting")
    assert "4 → 8 → 12" in headline(app)
    assert run_code(app).split()[:8] == ["1", "4.0", "2", "8.0", "3", "12.0", "4", "16.0"]
    assert [each.value for each in app.metric][2:] == ["3.81 MiB", "3.81 MiB", "0 B"]
    query = {"accum_loss": "multiples", "accum_reset": "none", "accum_every": "2"}
    app = open_page(PAGE, accum_tab="counting", **query)
    assert "every 2 calls: 2 → 5 → 4" in headline(app)
    assert len(app.get("plotly_chart")) == 1  # nothing adds up to the batch
    assert run_code(app).split()[5] == "4.0"


def test_micro_batches_give_the_same_gradient_unless_the_loss_is_not_divided(open_page, run_code):
    app = open_page(PAGE, accum_tab="counting")
    assert "1.00 MiB → 256 KiB, gradient 1 ×" in headline(app)
    assert "1 times the gradient" in run_code(app)
    app = open_page(PAGE, accum_tab="counting", accum_divide="false", accum_pieces="8")
    assert "gradient 8 ×" in headline(app)
    assert "8 times the gradient" in run_code(app)


def test_segments_of_every_length_are_compared(open_page, run_code):
    app = open_page(PAGE, accum_tab="trade")
    assert "segments of 4 peak lowest: 448 KiB instead of 1.00 MiB" in headline(app)
    assert "16 65536" in run_code(app)
    assert "O(√L)" in str([each.value for each in app.table])


def test_the_question_is_answered_by_what_was_measured(open_page):
    app = open_page(PAGE, **ask("accum_no_gain"))
    app = commit(app, "accum_no_gain", 1)
    assert "Right: **4.00 MiB: nothing is gained**." in said(app)
    assert "8.00 MiB into 4.00 MiB" in said(app)
    app = open_page(PAGE, accum_tab="counting", **ask("accum_three_calls"))
    app = commit(app, "accum_three_calls", 0)
    assert "The answer is **12**." in said(app)
