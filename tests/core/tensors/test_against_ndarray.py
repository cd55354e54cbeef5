"""Five programs on an ndarray and on a Tensor, and an `if` that a graph forgets."""

import numpy as np
import pytest
import torch

from core.tensors.numpy_bridge import (
    branch_on_rows,
    branch_on_values,
    differences,
    trace_an_if,
)


@pytest.fixture(scope="module")
def found():
    return {each.title: each for each in differences()}


def test_a_tensor_can_do_all_five_and_an_ndarray_one(found):
    assert len(found) == 5
    assert not any(each.tensor.failed for each in found.values())
    assert [title for title, each in found.items() if not each.ndarray.failed] == [
        "float32 by default"
    ]


def test_a_gradient_is_the_derivative_and_an_array_has_no_backward(found):
    assert found["gradients"].tensor.says == str(torch.tensor([2 * 3.0]))
    with pytest.raises(AttributeError, match="backward") as error:
        (np.array([3.0]) ** 2).backward()
    assert found["gradients"].ndarray.says == f"AttributeError: {error.value}"


def test_an_array_is_on_one_device_and_torch_has_others(found):
    assert found["devices"].tensor.says == str(torch.device("meta"))
    with pytest.raises(ValueError, match="meta") as error:
        np.zeros(3, device="meta")
    assert found["devices"].ndarray.says == f"ValueError: {error.value}"


def test_bfloat16_takes_two_bytes_and_numpy_has_none(found):
    assert found["narrow dtypes"].tensor.says == str(torch.bfloat16)
    assert torch.tensor([0.1], dtype=torch.bfloat16).element_size() == 2
    assert not hasattr(np, "bfloat16")
    assert "bfloat16" in found["narrow dtypes"].ndarray.says


def test_the_defaults_are_64_and_32_bits(found):
    default = found["float32 by default"]
    assert (default.ndarray.says, default.tensor.says) == ("float64", "torch.float32")
    assert np.array([0.1]).dtype.itemsize == 2 * torch.tensor([0.1]).element_size()


def test_a_graph_holds_the_call_of_torch_and_none_of_numpy(found):
    graph = found["a graph of what runs"]
    assert "torch.sin" in graph.tensor.code
    assert "sin" in graph.tensor.says
    assert graph.tensor.says.splitlines()[-1].strip() == "return sin"
    assert graph.ndarray.failed


def test_a_graph_keeps_the_branch_of_the_rows_that_it_was_traced_with():
    for rows in range(1, 6):
        traced = trace_an_if(rows)
        expected = {n: branch_on_rows(torch.ones(n))[0].item() for n in range(1, 6)}
        assert traced.eager == expected
        kept = 2.0 if rows > 2 else 0.0
        assert set(traced.traced.values()) == {kept}, rows
        wrong = [n for n in expected if expected[n] != traced.traced[n]]
        assert wrong == ([1, 2] if rows > 2 else [3, 4, 5]), rows
        assert "if" not in traced.graph.split()
        assert "if x.shape[0] > 2:" in traced.source


def test_an_if_on_values_runs_eagerly_and_is_refused_by_the_tracer():
    assert branch_on_values(torch.ones(2)).tolist() == [2, 2]
    assert branch_on_values(-torch.ones(2)).tolist() == [-2, -2]
    assert "control flow" in trace_an_if(4).refusal
