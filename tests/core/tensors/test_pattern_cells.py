"""What a pattern does to cells, against einops."""

import math

import einops
import numpy as np
import pytest
import torch

from core.tensors.pattern_cells import MAX_CELLS, PatternCall, axes_in, round_trip, run_pattern
from core.tensors.pattern_examples import PATTERNS

each_example = pytest.mark.parametrize("example", PATTERNS, ids=[each.key for each in PATTERNS])


def call_of(example, **changed):
    lengths = dict(zip(axes_in(example.pattern), example.lengths, strict=True))
    return PatternCall(
        operation=example.operation,
        pattern=example.pattern,
        lengths=lengths | changed,
        reduction=example.reduction,
        ones=example.ones,
    )


def by_einops(call, x):
    reduction = (call.reduction,) if call.operation == "reduce" else ()
    return getattr(einops, call.operation)(x, call.pattern, *reduction, **call.sizes)


@each_example
def test_shape_cost_and_kind_are_those_of_einops(example):
    call = call_of(example)
    run = run_pattern(call)
    x = torch.empty(run.shape, device="meta")
    y = by_einops(call, x)

    assert run.result_shape == tuple(y.shape)
    is_view = y.untyped_storage()._cdata == x.untyped_storage()._cdata
    assert (run.plan.kind == "view") == is_view
    assert (run.plan.bytes_moved == 0) == is_view


@each_example
def test_every_cell_after_lies_where_einops_puts_the_index_of_each_axis(example):
    run = run_pattern(call_of(example))
    for axis, before in run.before.along.items():
        if axis not in run.after.along or example.operation == "reduce":
            continue
        small = PatternCall(
            operation=run.call.operation, pattern=run.call.pattern, lengths=run.shown
        )
        shape = small.shape_with(run.shown)
        moved = by_einops(small, torch.from_numpy(before.reshape(shape).copy()))
        assert np.array_equal(run.after.along[axis].ravel(), moved.numpy().ravel()), axis


@each_example
def test_what_is_drawn_is_whole_or_small_enough(example):
    run = run_pattern(call_of(example))

    assert max(math.prod(cells.shape) for cells in (run.before, run.after)) <= MAX_CELLS
    assert (run.before.values is None) == (not run.is_whole)


def test_the_first_element_of_four_ones_is_4_by_sum_and_1_by_mean():
    total, mean = (call_of(example) for example in PATTERNS if example.key in {"reduce", "mean"})

    assert (run_pattern(total).first, run_pattern(mean).first) == (4, 1)


def test_lengths_of_billions_are_planned_and_a_part_is_drawn():
    run = run_pattern(call_of(PATTERNS[0], t=32768, d=32768))

    assert run.shape == (2, 32768, 65536)
    assert run.plan.bytes_moved == 0
    assert not run.is_whole
    assert run.first is None


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("b t -> b", "t appears on one side only"),
        ("b t", "one arrow"),
        ("b (t -> b t", "parenthes"),
        ("b b -> b", "duplicate dimension"),
        ("({b t) -> b t", "Unknown character"),
        ("(... t) -> ... t", "inside brackets"),
        ("b t -> ... b t", "has to stand on the left"),
        ("(tensor t) -> tensor t", "length of tensor"),
    ],
)
def test_what_einops_refuses_is_refused_with_a_reason(pattern, said):
    lengths = dict.fromkeys(axes_in(pattern), 2)

    with pytest.raises(ValueError, match=said):
        run_pattern(PatternCall(operation="rearrange", pattern=pattern, lengths=lengths))


@pytest.mark.parametrize("pattern", ["a b c d e f g -> a", "->", "1 -> 1"])
def test_a_pattern_has_one_to_six_axes(pattern):
    with pytest.raises(ValueError, match="use 1 to 6"):
        axes_in(pattern)


def test_numbers_that_make_too_many_cells_are_refused():
    with pytest.raises(ValueError, match="more cells than can be drawn"):
        run_pattern(PatternCall(operation="reduce", pattern="(a 512) -> a", lengths={"a": 2}))


def test_splitting_and_merging_again_moves_nothing_and_a_fresh_merge_does():
    trip = round_trip(PATTERNS[0], PATTERNS[1])

    x = torch.arange(48.0).view(trip.before)
    y = einops.rearrange(x, PATTERNS[0].pattern, h=2)
    back = einops.rearrange(y, PATTERNS[1].pattern)
    fresh = einops.rearrange(y.contiguous(), PATTERNS[1].pattern)
    assert (tuple(y.shape), y.stride()) == (trip.shape, trip.stride)
    assert back.data_ptr() == x.data_ptr()
    assert trip.moved == 0
    assert trip.fresh_merge == y.nbytes + fresh.nbytes


NAMES = ("x", "operation", "pattern", "reduction", "tensor", "tensors", "self", "call", "lengths")


@pytest.mark.parametrize("operation", ["rearrange", "reduce", "repeat"])
def test_an_axis_may_be_called_like_an_argument(operation):
    refused = set()
    for name in NAMES:
        pattern = {
            "rearrange": f"({name} b) -> b {name}",
            "reduce": f"({name} b) -> b",
            "repeat": f"b -> b {name}",
        }[operation]
        call = PatternCall(operation=operation, pattern=pattern, lengths={name: 2, "b": 3})
        try:
            wanted = by_einops(call, torch.arange(float(math.prod(call.shape))))
        except TypeError:
            refused.add(name)
            with pytest.raises(ValueError, match=f"length of {name}"):
                run_pattern(call)
            continue
        run = run_pattern(call)
        assert run.result_shape == tuple(wanted.shape), pattern
        assert np.array_equal(run.after.values, wanted.numpy()), pattern
    assert refused == {"tensor", "pattern", "reduction"}


@pytest.mark.parametrize("name", NAMES)
def test_an_axis_whose_length_is_seen_in_the_shape_may_have_any_name(name):
    call = PatternCall(
        operation="rearrange", pattern=f"b {name} -> {name} b", lengths={"b": 2, name: 3}
    )
    assert run_pattern(call).result_shape == (3, 2)
