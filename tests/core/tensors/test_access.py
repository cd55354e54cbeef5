"""The model of access against counting by hand, and the experiment as data."""

import itertools

import pytest
import torch

from core.tensors.access import (
    STRIDES,
    StridedSum,
    access_cost,
    measure_strided_sums,
    sectors_per_warp,
)
from core.tensors.layout import contiguous
from core.tensors.strided_trial import trial
from core.tensors.trace import layout_of

X = torch.zeros(256, 256)


@pytest.mark.parametrize(
    ("x", "num_elements", "touched", "changes"),
    [
        (X, 65_536, 4096, 4096),
        (X.t(), 65_536, 4096, 65_536),
        (X[:, ::16], 4096, 4096, 4096),
        (X[:, :16], 4096, 256, 256),
        (X[0, :1].expand(99), 99, 1, 1),
        (X[:0], 0, 0, 0),
        (X[0, 0], 1, 1, 1),
    ],
    ids=["rows", "columns", "every 16th", "first 16", "stride 0", "empty", "scalar"],
)
def test_a_walk_touches_and_changes_as_many_lines_as_counted_by_hand(
    x, num_elements, touched, changes
):
    cost = access_cost(layout_of(x))
    told = (cost.num_elements, cost.lines_touched, cost.line_changes)
    assert told == (num_elements, touched, changes)
    assert cost.fetched_bytes == 64 * touched
    assert cost.num_bytes == 4 * num_elements


def test_a_line_gives_sixteen_floats_in_rows_and_one_in_columns():
    rows, columns = access_cost(layout_of(X)), access_cost(layout_of(X.t()))
    assert (rows.elements_per_line, rows.elements_per_change) == (16, 16)
    assert (columns.elements_per_line, columns.elements_per_change) == (16, 1)
    assert access_cost(layout_of(X[:0])).elements_per_line == 0


@pytest.mark.parametrize(
    ("x", "sectors", "ideal"),
    [
        (torch.zeros(64), (4, 4), (4, 4)),
        (torch.zeros(64, dtype=torch.float16), (2, 2), (2, 2)),
        (torch.zeros(64, dtype=torch.float64), (8, 8), (8, 8)),
        (torch.zeros(128)[::2], (8, 8), (4, 4)),
        (torch.zeros(32, 32).t()[:2], (32, 32), (4, 4)),
        (torch.zeros(1).expand(64), (1, 1), (1, 1)),
        (torch.zeros(64, 1).expand(64, 32), (1,) * 64, (1,) * 64),
        (torch.zeros(100).unfold(0, 8, 1), (2,) * 24, (*(2,) * 23, 1)),
        (torch.zeros(65)[1:], (5, 5), (4, 4)),
        (torch.zeros(40), (4, 1), (4, 1)),
        (torch.zeros(0), (), ()),
    ],
    ids=[
        "fp32",
        "fp16",
        "fp64",
        "stride 2",
        "columns",
        "stride 0",
        "expanded rows",
        "windows",
        "offset 1",
        "rest",
        "empty",
    ],
)
def test_a_warp_needs_the_sectors_that_its_32_elements_lie_in(x, sectors, ideal):
    access = sectors_per_warp(layout_of(x))
    assert (access.sectors, access.ideal) == (sectors, ideal)
    assert access.efficiency == (sum(ideal) / sum(sectors) if sectors else 1)
    assert access.efficiency <= 1


def test_sectors_are_those_that_hold_a_byte_of_the_warp():
    for step, offset in itertools.product((1, 2, 3, 5, 9), (0, 1, 7)):
        x = torch.zeros(1000)[offset::step][:96]
        first = [4 * (offset + step * number) for number in range(len(x))]
        warps = [first[start : start + 32] for start in range(0, len(first), 32)]
        counted = [len({byte // 32 for at in warp for byte in range(at, at + 4)}) for warp in warps]
        assert sectors_per_warp(layout_of(x)).sectors == tuple(counted), (step, offset)


def test_more_elements_than_can_be_listed_are_refused():
    for count in (access_cost, sectors_per_warp):
        with pytest.raises(ValueError, match="65,537 elements"):
            count(contiguous((65_537,)))


def test_a_strided_sum_counts_elements_and_lines_of_the_same_footprint():
    sums = [StridedSum(stride=s, num_bytes=2**20, seconds=(3.0, 1.0, 2.0)) for s in STRIDES]
    for each in sums:
        x = layout_of(torch.zeros(2**18)[:: each.stride][: 2**16])
        assert each.num_elements == len(range(0, 2**18, each.stride))
        assert each.num_lines == x.lines_touched() * each.num_elements // x.numel
    assert [each.num_lines for each in sums] == [16_384] * 5 + [8192, 4096]
    assert (sums[0].median, sums[0].spread) == (2.0, (1.0, 3.0))
    assert sums[0].seconds_per_element == 2.0 / 2**18
    assert sums[-1].seconds_per_line == 2.0 / 4096


@pytest.mark.slow
def test_a_measurement_times_each_stride_once_a_round_and_tells_its_progress():
    shares = []
    sums = measure_strided_sums(shares.append, num_bytes=2**20, num_rounds=3)
    assert [each.stride for each in sums] == list(STRIDES)
    assert all(len(each.seconds) == 3 and min(each.seconds) > 0 for each in sums)
    assert shares == [(number + 1) / 21 for number in range(21)]


def test_every_second_round_goes_backwards():
    assert [stride for stride, _seconds in trial(4096, 2, (1, 2, 4))] == [1, 2, 4, 4, 2, 1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"strides": ()}, "strides are -"),
        ({"strides": (2, 1)}, "in ascending order"),
        ({"strides": (0, 1)}, "at least 1"),
        ({"num_bytes": 100}, "100 bytes; it must be a multiple of 64"),
        ({"num_bytes": 2**31}, "at most 1,073,741,824"),
        ({"num_rounds": 0}, "num_rounds is 0; it must lie between 1 and 1000"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_a_process_is_started(wrong, message):
    with pytest.raises(ValueError, match=message):
        measure_strided_sums(**wrong)
