"""The pictures of patterns, indices and attention, by their data."""

import numpy as np

from core.figures.picture import Look
from core.tensors.attention import LLAMA_70B, TOY, by_hand, run_attention
from core.tensors.einsum import run_einsum
from core.tensors.pattern_cells import PatternCall, axes_in, run_pattern
from core.units import GIB
from pages.tensors.rearrange_and_einsum.attention import attention_picture
from pages.tensors.rearrange_and_einsum.einsum import index_picture
from pages.tensors.rearrange_and_einsum.inputs import axis_color
from pages.tensors.rearrange_and_einsum.pattern import pattern_picture

SPLIT = "b t (h d) -> b h t d"
LENGTHS = {"b": 2, "t": 4, "h": 2, "d": 3}


def split_picture(axis="h", look=None, **lengths):
    call = PatternCall(operation="rearrange", pattern=SPLIT, lengths=LENGTHS | lengths)
    return pattern_picture(run_pattern(call), axis, axes_in(SPLIT), look or Look())


def squares(trace):
    return [x for x in trace.x if x is not None]


def test_every_element_is_one_cell_before_and_after_and_keeps_its_number():
    figure = split_picture().figure
    before, after = (trace for trace in figure.data if trace.mode == "text")

    assert sorted(map(int, before.text)) == sorted(map(int, after.text)) == list(range(48))
    fills = [trace for trace in figure.data if trace.mode == "lines"]
    assert [len(squares(trace)) for trace in fills] == [5 * 24] * 4
    assert fills[0].fillcolor == fills[2].fillcolor != fills[1].fillcolor


def test_a_cell_tells_its_index_on_hover():
    before = next(trace for trace in split_picture().figure.data if trace.mode == "text")

    place = list(before.text).index("23")
    assert before.customdata[place] == ["23", "b=0 t=3 h=1 d=2"]


def test_each_name_has_its_colour_on_both_sides_of_the_pattern():
    look = Look()
    left, right = (note.text for note in split_picture(look=look).figure.layout.annotations[:2])

    for name in LENGTHS:
        word = f'<span style="color:{axis_color(name, axes_in(SPLIT), look)}"><b>{name}</b></span>'
        assert word in left, name
        assert word in right, name
    assert "(<span" in left
    assert left.count(")") == right.count(")") + 1
    assert "(2, 4, 6)" in left
    assert "(2, 2, 4, 3)" in right


def test_a_number_is_written_only_where_its_cell_is_wider_on_a_narrow_screen():
    """660 px of picture on a screen of 1024; a digit of 13 px takes 6.7 of them in Source Sans."""
    shown = 0
    long = ({"b": 1, "t": 8, "d": 8}, {"b": 1, "t": 8, "h": 4, "d": 4}, {"t": 8, "h": 3})
    for lengths in ({}, {"t": 2}, {"d": 6}, *long):
        figure = split_picture(**lengths).figure
        for trace in (each for each in figure.data if each.mode == "text"):
            axis = figure.layout["xaxis2" if trace.xaxis == "x2" else "xaxis"]
            low, high = axis.range
            cell = 0.92 * 660 * (axis.domain[1] - axis.domain[0]) / (high - low)
            shown += trace.text[0] != ""
            assert max(map(len, trace.text)) * 6.7 <= cell, (lengths, trace.text[-1], cell)
    assert shown >= 4


def test_a_part_of_a_large_tensor_has_no_numbers():
    picture = split_picture(t=4096)

    texts = [trace.text for trace in picture.figure.data if trace.mode == "text"]
    assert {text for each in texts for text in each} == {""}
    assert "(2, 4096, 6)" in picture.alt
    assert 4096 in picture.table["length"]


def test_bars_are_the_bytes_of_each_statement():
    run = run_attention(LLAMA_70B, 8192, by_hand(LLAMA_70B, 8192))
    result, temporary = attention_picture(run, Look()).figure.data

    by_name = dict(zip([name.strip() for name in result.y], result.x, strict=True))
    assert by_name["scores"] == by_name["softmax"] == 8 * GIB
    assert by_name["split Q"] == 0
    assert sum(temporary.x) == sum(stage.hidden_bytes for stage in run.stages)


def test_weights_stand_beside_the_bars_where_there_are_numbers():
    run = run_attention(TOY, 4, by_hand(TOY, 4))
    *_bars, weights = attention_picture(run, Look()).figure.data

    assert np.allclose(np.sum(weights.z, axis=1), 1)
    assert "4 tokens" in attention_picture(run, Look()).alt


def test_a_summed_index_is_written_and_not_only_coloured():
    run = run_einsum("ij,jk->ik", {"i": 4, "j": 3, "k": 5}, "float32")
    picture = index_picture(run, "j", Look())
    texts = [note.text for note in picture.figure.layout.annotations]
    assert texts == ["4", "3", "3", "5", "4", "Σ j", "5"]
    assert picture.table["j"] == ["3", "3", "Σ j"]
    assert picture.table["k"] == ["–", "5", "5"]
