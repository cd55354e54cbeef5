"""What a pattern does to cells, against einops."""

import math

import einops
import numpy as np
import pytest
import torch

from core.tensors.examples import PATTERNS
from core.tensors.pattern_cells import (
    MAX_CELLS,
    PatternCall,
    annotated_dims,
    axes_in,
    first_mismatch,
    round_trip,
    run_pattern,
)

each_example = pytest.mark.parametrize("example", PATTERNS.values(), ids=PATTERNS)


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
    total, mean = (call_of(PATTERNS[key]) for key in ("reduce", "mean"))

    assert (run_pattern(total).first, run_pattern(mean).first) == (4, 1)


def test_lengths_of_billions_are_planned_and_a_part_is_drawn():
    run = run_pattern(call_of(PATTERNS["split"], t=32768, d=32768))

    assert run.shape == (2, 32768, 65536)
    assert run.plan.bytes_moved == 0
    assert not run.is_whole
    assert run.first is None


@pytest.mark.parametrize("pattern", ["a b c d e f g -> a", "->", "1 -> 1"])
def test_a_pattern_has_one_to_six_axes(pattern):
    with pytest.raises(ValueError, match="use 1 to 6"):
        axes_in(pattern)


def test_numbers_that_make_too_many_cells_are_refused():
    with pytest.raises(ValueError, match="more cells than can be drawn"):
        run_pattern(PatternCall(operation="reduce", pattern="(a 512) -> a", lengths={"a": 2}))


def test_splitting_and_merging_again_moves_nothing_and_a_fresh_merge_does():
    trip = round_trip(PATTERNS["split"], PATTERNS["merge"])

    x = torch.arange(48.0).view(trip.before)
    y = einops.rearrange(x, PATTERNS["split"].pattern, h=2)
    back = einops.rearrange(y, PATTERNS["merge"].pattern)
    fresh = einops.rearrange(y.contiguous(), PATTERNS["merge"].pattern)
    assert (tuple(y.shape), y.stride()) == (trip.shape, trip.stride)
    assert back.data_ptr() == x.data_ptr()
    assert trip.moved == 0
    assert trip.fresh_merge == y.nbytes + fresh.nbytes


@pytest.mark.parametrize(
    ("annotation", "wrong"),
    [
        ("b h t d", None),
        ("b t h d", ("t", 4, 2)),
        ("... d", None),
        ("_ 2 4 _", None),
        ("b h t 5", ("5", 5, 3)),
        ("n n t d", None),
        ("n h n d", ("n", 2, 4)),
    ],
)
def test_a_name_stands_for_its_axis_or_for_the_first_length_that_it_meets(annotation, wrong):
    lengths, shape = {"b": 2, "t": 4, "h": 2, "d": 3}, (2, 2, 4, 3)
    assert first_mismatch(annotated_dims(annotation, 4), shape, lengths) == wrong


def test_what_is_no_annotation_is_refused_and_another_number_of_dimensions_seen():
    with pytest.raises(ValueError, match="'b,' is not a valid name of a dimension"):
        annotated_dims("b, t", 2)
    with pytest.raises(ValueError, match="only once"):
        annotated_dims("... b ...", 2)
    assert len(annotated_dims("b t", 3)) == 2
    assert len(annotated_dims("b ... t d", 2)) == 3
