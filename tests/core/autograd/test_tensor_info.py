"""A tensor as plain data: values in row-major order and statistics, however it lies in memory."""

import math
import sys

import pytest
import torch

from core.autograd import tensor_info
from core.autograd.tensor_info import MAX_VALUE_BYTES, Budget, statistics_of


def tensors():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 4, 5, generator=generator)
    return {
        "contiguous": x,
        "transposed": x.transpose(0, 2),
        "strided": x[:, ::2, 1:],
        "expanded": x[:1].expand(3, 4, 5),
        "bfloat16": x.bfloat16().transpose(0, 1),
        "int64": torch.arange(12).reshape(3, 4).t(),
        "bool": x > 0,
        "scalar": torch.tensor(-2.5),
    }


@pytest.mark.parametrize("name", tensors())
def test_values_are_row_major_and_statistics_those_of_all_of_them(name):
    x = tensors()[name]
    found = Budget().info(x)
    wanted = [float(each) for each in x.flatten().tolist()]
    assert found.nested == x.tolist()
    assert list(found.values) == wanted
    told = found.statistics
    assert (told.minimum, told.maximum) == (min(wanted), max(wanted))
    assert told.mean == pytest.approx(math.fsum(wanted) / len(wanted), rel=1e-5, abs=1e-6)
    assert told.norm == pytest.approx(math.hypot(*wanted), rel=1e-5)
    assert (told.num_nan, told.num_inf) == (0, 0)
    assert found.num_bytes == x.numel() * x.element_size()


def test_a_complex_number_counts_as_its_two_parts():
    told = statistics_of(torch.tensor([[1 + 2j, -3 + 0j]]).conj())
    assert (told.minimum, told.maximum, told.mean) == (-3, 1, -1)
    assert told.norm == pytest.approx(math.sqrt(14))


def test_what_is_not_finite_is_counted_and_the_rest_has_its_extremes():
    told = statistics_of(torch.tensor([[math.nan, 1.0], [math.inf, -4.0], [-math.inf, 2.0]]).t())
    assert (told.num_nan, told.num_inf) == (1, 2)
    assert (told.minimum, told.maximum, told.mean, told.norm) == (-4, 2, None, None)
    nothing = statistics_of(torch.tensor([math.nan, math.nan]))
    assert (nothing.num_nan, nothing.minimum, nothing.maximum) == (2, None, None)


def test_there_are_no_statistics_of_nothing():
    assert statistics_of(torch.empty(0, 3)) is None
    assert statistics_of(torch.empty(3, device="meta")) is None


def test_a_budget_keeps_values_only_while_they_are_few():
    budget = Budget(max_values=4)
    assert budget.info(torch.ones(4)).values == (1.0,) * 4
    large = budget.info(torch.ones(5))
    assert large.values is None
    assert large.statistics.norm == pytest.approx(math.sqrt(5))


def test_a_large_tensor_is_read_once_until_something_writes_into_it(monkeypatch):
    read = []
    monkeypatch.setattr(
        tensor_info, "statistics_of", lambda x: read.append(x.numel()) or statistics_of(x)
    )
    budget, x = Budget(), torch.arange(10_000.0).reshape(100, 100)
    first = budget.info(x)
    assert budget.info(x.t()).statistics == budget.info(x).statistics == first.statistics
    assert read == [10_000]
    x.mul_(2)
    assert budget.info(x).statistics.maximum == 2 * first.statistics.maximum
    assert budget.info(x[1:]).statistics.minimum == 200
    assert read == [10_000, 10_000, 9_900]


def test_memory_that_was_let_go_is_not_taken_for_the_tensor_that_lay_there():
    budget = Budget()
    for number in range(50):
        assert budget.info(torch.full((10_000,), float(number))).statistics.mean == number


def test_the_values_of_a_capture_take_no_more_than_they_may():
    budget, held = Budget(), 0
    for _turn in range(1000):
        values = budget.info(torch.rand(4096)).values
        held += sum(map(sys.getsizeof, values)) + sys.getsizeof(values) if values else 0
    assert 0.9 * MAX_VALUE_BYTES < held < 1.01 * MAX_VALUE_BYTES
