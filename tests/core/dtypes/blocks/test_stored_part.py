"""The part of a tensor that a picture shows, and the spans of rows that share a scale."""

import numpy as np
import pytest

from core.dtypes.blocks.sample_tensors import looked_at, teaching_tensor
from core.dtypes.blocks.storage import STORAGE_NAMES, find_storage
from core.dtypes.blocks.stored_part import choose_rows, make_sides


def sides(x, *names, where="first", num_rows=16, num_columns=16, group=128):
    storages = [find_storage(name, group_size=group) for name in names]
    return make_sides(x, storages, where, num_rows=num_rows, num_columns=num_columns)


@pytest.fixture
def normal():
    return looked_at(teaching_tensor("normal", 256, 0))


NUM_SPANS = {"nvfp4": 16, "mxfp4": 8, "nf4": 4, "int4_group128": 2, "int8_channel": 1}
NUM_SPANS |= {"int8_tensor": 1, "bfloat16": 0}


@pytest.mark.parametrize(("name", "num_spans"), NUM_SPANS.items())
def test_256_values_have_as_many_scales_as_blocks(normal, name, num_spans):
    (side,) = sides(normal, name)
    assert len(side.spans) == num_spans
    rows = [row for span in side.spans for row in range(span.first, span.last + 1)]
    assert rows == (list(range(16)) if num_spans else [])


@pytest.mark.parametrize("name", STORAGE_NAMES)
def test_a_cell_times_its_scale_is_what_comes_back(normal, name):
    (side,) = sides(normal, name)
    scales = np.ones(16)
    for span in side.spans:
        scales[span.first : span.last + 1] = span.scale
    assert np.allclose(side.numbers * scales[:, None], side.restored, rtol=1e-12, atol=0)
    assert np.array_equal(side.original, normal[0].reshape(16, 16))


def test_the_affine_zero_point_stands_beside_its_scale(normal):
    (side,) = sides(np.abs(normal) + 1, "int8_tensor_affine")
    assert [span.zero_point for span in side.spans] == [0]
    (side,) = sides(-np.abs(normal) - 1, "int8_tensor_affine")
    assert [span.zero_point for span in side.spans] == [255]


def test_around_the_largest_value_the_largest_value_is_seen(normal):
    row, column = np.unravel_index(np.abs(normal).argmax(), normal.shape)
    (side,) = sides(normal, "nvfp4", where="largest")
    assert normal[row, column] in side.original


def test_a_nan_is_looked_at_before_the_largest_number():
    x = looked_at(teaching_tensor("one_nan", 256, 0))
    for where in ("largest", "worst"):
        (side,) = sides(x, "mxfp4", where=where)
        assert np.isnan(side.original).sum() == 1
        assert np.isnan(side.restored).sum() == 32
        assert [np.isnan(span.scale) for span in side.spans].count(True) == 1


def test_where_a_loses_most_its_worst_error_is_seen(normal):
    worst = find_storage("int4_group128").store(normal).restored - normal
    first, _second = sides(normal, "int4_group128", "nvfp4", where="worst")
    seen = np.abs(first.restored - first.original)
    assert seen.max() == np.abs(worst).max()


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 3), (3, 100), (2, 1000), (40, 17)])
@pytest.mark.parametrize("where", ["largest", "worst", "first"])
def test_odd_sizes_end_in_empty_cells(shape, where):
    x = np.random.default_rng(0).normal(size=shape)
    for side in sides(x, "mxfp4", "int8_group128", where=where, group=32):
        assert side.original.shape[1] == 16
        assert np.isfinite(side.codes).sum() == np.isfinite(side.original).sum() > 0
        assert side.original.shape[0] <= 16


def test_the_rows_of_a_projector_split_a_block_of_32_in_four(normal):
    rows = choose_rows(normal, normal, "first", num_rows=10, num_columns=8)
    (side,) = sides(normal, "mxfp4", num_rows=10, num_columns=8)
    assert rows.starts[:3] == ((0, 0), (0, 8), (0, 16))
    assert [(span.first, span.last) for span in side.spans] == [(0, 3), (4, 7), (8, 9)]
