"""Checkpointing, measured, against closed forms and torch's own gradients."""

import math
from dataclasses import astuple, replace

import pytest
import torch

from core.autograd.layer_stack import LAYERS, Stack
from core.autograd.recomputation import NESTED, NONE, compare, run, sweep

SMALL = Stack(batch_size=4, width=8, num_layers=6)
# CS336 2026, lecture 2: batch 64, width 1024, 16 layers; in 4 bytes.
LECTURE = Stack(batch_size=64, width=1024, num_layers=16, on_meta=True)
MIB = 2**20


def test_the_lectures_setting_holds_what_was_measured_for_it():
    runs = {each.segment: each for each in sweep(LECTURE)}
    held = {segment: each.held / MIB for segment, each in runs.items()}
    assert held == {NONE: 4, 1: 4, 2: 2, 4: 1, 8: 0.5, 16: 0.25, NESTED: 0.25}
    assert f"{runs[NONE].flops:.4g}" == "6.442e+09"
    assert {f"{runs[each].flops:.4g}" for each in (1, 2, 4, 8, 16)} == {"8.59e+09"}
    assert runs[4].flops / runs[NONE].flops == pytest.approx(4 / 3)


@pytest.mark.parametrize("layer", list(LAYERS))
def test_every_segment_holds_its_input_and_nothing_else(layer):
    for num_layers in (5, 6):
        stack = replace(SMALL, num_layers=num_layers, layer=layer, on_meta=True)
        assert run(stack, NONE).held == LAYERS[layer].num_kept * num_layers * 4 * 8 * 4
        for segment in range(1, num_layers + 1):
            held = run(stack, segment).held
            assert held == math.ceil(num_layers / segment) * 4 * 8 * 4, segment


@pytest.mark.parametrize("layer", list(LAYERS))
def test_gradients_with_checkpoints_are_those_of_torch_without(layer):
    stack = replace(SMALL, layer=layer)
    x, weights = stack.rows(), stack.weights()
    wanted = torch.autograd.grad(stack.run(x, weights).square().mean(), weights)
    for segment in (NONE, 1, 4, 6, NESTED):
        weights = stack.weights()
        run(stack, segment, weights)
        for weight, gradient in zip(weights, wanted, strict=True):
            torch.testing.assert_close(weight.grad, gradient)
        assert compare(stack, segment or 1).largest_difference == pytest.approx(0, abs=1e-6)


def test_on_meta_and_on_numbers_the_same_bytes_are_kept_at_every_operation():
    for segment in (NONE, 1, 4, NESTED):
        real, meta = run(SMALL, segment), run(replace(SMALL, on_meta=True), segment)
        assert [(each.phase, each.num_bytes, each.flops) for each in real.moments] == [
            (each.phase, each.num_bytes, each.flops) for each in meta.moments
        ]


def test_recomputation_stops_before_a_product_that_nobody_needs():
    after, before = (
        run(replace(SMALL, layer=layer), 2).flops_recomputed for layer in ("gelu", "gelu_first")
    )
    product = 2 * 4 * 8 * 8
    assert after == 6 * product
    assert before == 3 * product  # the last product of each of three segments is left out


def test_the_peak_is_the_segment_and_what_is_held_then():
    for segment in (1, 2, 4, 8, 16):
        # Its own input is held, and what it recomputes in front of the output that loss needs.
        waiting = 16 // segment - 1
        assert run(LECTURE, segment).peak == max(waiting + segment, 16 // segment) * MIB // 4


def test_nested_checkpoints_keep_two_tensors_whatever_the_depth():
    for num_layers in (4, 8, 16):
        stack = replace(SMALL, num_layers=num_layers, on_meta=True)
        nested = run(stack, NESTED)
        assert nested.peak == 2 * 4 * 8 * 4
        assert nested.flops_recomputed > num_layers**2 / 2 * 2 * 4 * 8 * 8


def test_a_segment_has_at_least_a_layer_and_at_most_all():
    for segment in (7, -2):
        with pytest.raises(ValueError, match="1 to 6 layers"):
            run(SMALL, segment)


def test_nothing_of_torch_is_in_what_comes_back():
    both = compare(SMALL, 2)
    kinds = {type(each) for moment in both.plain.moments for each in astuple(moment)}
    assert kinds == {str, int}
    assert both.extra_flops == pytest.approx(1 / 3)
