"""An operation and its tensors."""

import ast

import torch

from core.expressions.error import Span
from core.expressions.operation import BINARY, COMPARISONS, INDEX, UNARY, Operation, tensors_in

SPAN = Span(line=1, column=0, end_column=1)


def test_tensors_are_found_however_nested():
    x, y = torch.zeros(2), torch.ones(2)
    assert [each is x for each in tensors_in([1, (x, [None, y, "a"]), x])] == [True, False, True]
    operation = Operation(call=INDEX, arguments=(x, (slice(None), [y])), text="", span=SPAN)
    assert [id(each) for each in operation.inputs] == [id(x), id(y)]


def test_every_operator_does_what_python_does():
    x = torch.arange(1, 7).view(2, 3)
    for table in (BINARY, COMPARISONS):
        for node, call in table.items():
            other = x.t() if node is ast.MatMult else x
            wanted = eval(f"x {call.name} y", {"x": x, "y": other})  # noqa: S307  the oracle
            assert torch.equal(call.run(x, other), wanted), call.name
    for call in UNARY.values():
        assert torch.equal(call.run(x), eval(f"{call.name}x", {"x": x}))  # noqa: S307
