"""What each profile allows."""

import pytest
import torch

from core.expressions import ExpressionError
from core.expressions.methods import METHODS, NUM_PARTS, WRITES
from core.expressions.names import LAYOUT, MUTATION
from tests.core.expressions.warm import run


@pytest.mark.parametrize("text", ["x.add_(1)", "x.zero_()", "x[0] = 1", "x.copy_(x)", "x.fill_(2)"])
def test_only_the_profile_of_mutation_writes(text):
    with pytest.raises(ExpressionError, match=r"in place|cannot be assigned"):
        run(text)
    assert run(text, profile=MUTATION).shape == (4, 6)


def test_what_writes_is_marked_and_stands_in_no_other_table():
    assert all(call.writes and name.endswith("_") for name, call in WRITES.items())
    assert not any(call.writes for call in METHODS.values())
    assert MUTATION.methods.keys() - LAYOUT.methods.keys() == WRITES.keys()


def test_parts_are_counted_as_torch_makes_them():
    x = torch.zeros(7, 6)
    for name, arguments in [
        ("unbind", (0,)),
        ("unbind", (1,)),
        ("split", (3, 0)),
        ("split", ([1, 6], 0)),
        ("chunk", (3, 0)),
        ("chunk", (9, 0)),
        ("tensor_split", (4, 0)),
        ("tensor_split", ((1, 2), 1)),
        ("hsplit", (3,)),
        ("hsplit", ((1, 2, 5),)),
    ]:
        made = len(METHODS[name].run(x, *arguments))
        assert made <= NUM_PARTS[name](x, *arguments) <= made + 1, (name, arguments)
