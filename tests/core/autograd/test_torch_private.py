"""The canary of torch's private names: what a capture stands on is still there."""

import subprocess
import sys

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from core.autograd import torch_private


def test_a_node_has_the_number_that_was_announced():
    x = torch.ones(2, requires_grad=True)
    announced = torch_private.sequence_number()
    assert torch_private.sequence_of((x * 2).grad_fn) == announced


def test_a_leaf_is_taken_at_once():
    x = torch.ones(2, requires_grad=True)
    ((leaf, _output),) = (x * 2).exp().grad_fn.next_functions[0][0].next_functions[:1]
    assert torch_private.sequence_of(leaf) == 2**64 - 1
    assert torch_private.leaf_tensor(leaf) is x


def test_reading_what_is_saved_recomputes_nothing():
    calls = []

    def part(x):
        calls.append(1)
        return x.sin()

    x = torch.ones(2, requires_grad=True)
    node = checkpoint(part, x, use_reentrant=False).grad_fn
    held = [torch_private.kept_of(raw) for _name, raw in torch_private.raw_saved(node)]
    assert held == [(None, True)]
    assert calls == [1]


def test_what_is_kept_is_gone_after_backward():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    ((name, raw),) = torch_private.raw_saved(y.grad_fn)
    assert name == "result"
    assert torch.equal(torch_private.kept_of(raw)[0], y)
    y.sum().backward()
    assert torch_private.kept_of(raw) == (None, False)


def test_a_node_tells_its_dimension_as_the_reader_wrote_it():
    x = torch.ones(2, 3, requires_grad=True)
    assert torch_private.attributes_of(x.softmax(-1).grad_fn)["dim"] == "-1"
    assert torch_private.attributes_of(x.flip(0, -1).grad_fn)["dims"] == "(0, -1)"
    assert torch_private.outputs_of(x.softmax(-1).grad_fn) == [(2, 3)]


def test_the_engine_tells_its_plan_and_the_node_that_runs():
    x = torch.ones(2, requires_grad=True)
    y = x.exp().sum()
    told = []

    def look(_gradients):
        told.extend([torch_private.running_node(), torch_private.planned_order()])

    with torch.autograd.set_multithreading_enabled(False):
        y.grad_fn.register_prehook(look)
        y.backward()
    assert told[0] is y.grad_fn
    assert [type(node).__name__ for node in told[1]] == [
        *("SumBackward0", "ExpBackward0", "AccumulateGrad")
    ]


@pytest.mark.slow
def test_a_capture_loads_nothing_of_the_compiler_within_its_time_limit():
    code = """
import sys
from core.autograd.forward import Limits, Meter
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program
Meter(Limits())
before = set(sys.modules)
row = PRESETS["square"]
capture_program(row.source, row.tensors())
print([name for name in set(sys.modules) - before if name.startswith("torch._dynamo")])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
