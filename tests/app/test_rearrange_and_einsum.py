"""Rearrange and einsum: every tab, every example, refusals, and the code of each."""

import re

import pytest

from core.tensors.examples import EINSUMS, PATTERNS
from tests.app.shown import ask, commit, headline, said

PAGE = "tensors/rearrange_and_einsum"


def settings_of(example, word):
    named = {f"ein_{word}_{place}": str(size) for place, size in enumerate(example.lengths, 1)}
    return named | {f"ein_{word}_axis": str(example.axis)}


def pattern_query(example):
    own = {
        "ein_op": example.operation,
        "ein_pattern": example.pattern,
        "ein_reduction": example.reduction,
        "ein_ones": str(example.ones).lower(),
    }
    return own | settings_of(example, "size")


def einsum_query(example):
    own = {"ein_tab": "einsum", "ein_equation": example.equation}
    return own | settings_of(example, "index")


def amounts(text):
    """Numbers with their unit, and shapes."""
    return re.findall(r"[\d,.]+ (?:B|[KMGT]iB|[kMGT]?FLOPs)\b|\([\d, ]*\)", text)


def check_code(app, run_code):
    printed = run_code(app)
    assert [each for each in amounts(headline(app)) if each not in printed] == [], printed


@pytest.mark.parametrize("example", PATTERNS.values(), ids=PATTERNS)
def test_every_pattern_is_drawn_and_its_code_prints_the_headlines_numbers(
    open_page, run_code, example
):
    app = open_page(PAGE, **pattern_query(example))

    assert example.pattern in headline(app)
    check_code(app, run_code)


@pytest.mark.parametrize("example", EINSUMS.values(), ids=EINSUMS)
def test_every_einsum_is_drawn_and_its_code_prints_the_headlines_numbers(
    open_page, run_code, example
):
    app = open_page(PAGE, **einsum_query(example))

    check_code(app, run_code)


@pytest.mark.parametrize(
    ("size", "program"),
    [("toy", "hand"), ("toy", "sdpa"), ("toy", "linear")]
    + [("llama-3-70b", each) for each in ("hand", "sdpa", "linear")],
)
def test_attention_prints_the_headlines_numbers(open_page, run_code, size, program):
    app = open_page(PAGE, ein_tab="attention", ein_model=size, ein_program=program)

    check_code(app, run_code)


def test_sdpa_without_data_says_that_the_way_by_hand_is_shown(open_page):
    app = open_page(PAGE, ein_tab="attention", ein_model="llama-3-70b", ein_program="sdpa")

    assert "8.00 GiB each" in headline(app)
    assert "This is attention by hand" in said(app)


@pytest.mark.parametrize(("units", "memory"), [("GiB", "8.00 GiB"), ("GB", "8.59 GB")])
def test_bytes_are_in_the_readers_unit(open_page, run_code, units, memory):
    app = open_page(PAGE, units=units, ein_tab="attention", ein_model="llama-3-70b")

    assert memory in headline(app)
    assert memory in run_code(app)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"ein_pattern": "b t -> b"}, "t appears on one side only"),
        ({"ein_pattern": "b t"}, "one arrow"),
        ({"ein_pattern": ""}, "use 1 to 6"),
        ({"ein_pattern": "(tensor b) -> b tensor"}, "length of tensor"),
        ({"ein_pattern": "(... b) -> b ..."}, "inside brackets"),
        ({"ein_op": "reduce", "ein_pattern": "b -> b t"}, "reduce adds no axis"),
        ({"ein_tab": "einsum", "ein_equation": "ij,jk"}, "one arrow"),
        ({"ein_tab": "einsum", "ein_equation": "ij->k"}, "Axis k of the result"),
        ({"ein_note": "b *t"}, "not a valid name of a dimension"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(open_page, query, reason):
    app = open_page(PAGE, **query)

    assert headline(app) == "This pattern is refused"
    assert any(reason in each.value for each in app.error)


@pytest.mark.filterwarnings("ignore:It is discouraged to use axes names that are keywords")
@pytest.mark.parametrize("name", ["x", "in"])
def test_an_axis_may_be_called_like_an_argument_or_a_keyword(open_page, run_code, name):
    app = open_page(PAGE, ein_pattern=f"({name} b) -> b {name}")
    assert f"`({name} b) -> b {name}`" in headline(app)
    check_code(app, run_code)


def test_a_large_tensor_is_drawn_in_part_and_says_so(open_page):
    app = open_page(PAGE, ein_size_2="4096", ein_size_4="128")

    assert "(2, 4096, 256) → (2, 2, 4096, 128)" in headline(app)
    assert "Only the first indices" in said(app)


def test_the_question_is_answered_by_the_plans(open_page):
    app = open_page(PAGE, **ask("ein_round_trip"))
    assert app.session_state["headline"]

    commit(app, "ein_round_trip", 1)

    assert any("Right: **0 bytes" in each.value for each in app.markdown)


def test_a_sum_takes_the_same_number_of_flops_in_both_tabs(open_page, run_code):
    lengths = {"1": "8", "2": "16", "axis": "1"}
    index = {f"ein_index_{name}": value for name, value in lengths.items()}
    size = {f"ein_size_{name}": value for name, value in lengths.items()}
    apps = (
        open_page(PAGE, ein_tab="einsum", ein_equation="ij->i", **index),
        open_page(PAGE, ein_op="reduce", ein_pattern="i j -> i", **size),
        open_page(PAGE, ein_tab="einsum", ein_equation="ij,jk->i", ein_index_3="4096", **index),
    )
    for app, flops in zip(apps, ("120 FLOPs", "120 FLOPs", "65.8 kFLOPs"), strict=True):
        assert flops in headline(app)
        check_code(app, run_code)


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("b t h d", "t is 4, not 2"),
        ("b h t d", "as its annotation `b h t d` says"),
        ("b h t", "another number of dimensions"),
        ("... d", "as its annotation"),
    ],
)
def test_an_annotation_of_the_result_is_compared_and_the_code_says_the_same(
    open_page, run_code, note, told
):
    app = open_page(PAGE, ein_note=note)

    assert told in headline(app)
    is_refused = any(words in run_code(app) for words in ("and here", "are not the dimensions"))
    assert is_refused == ("as its annotation" not in told)
