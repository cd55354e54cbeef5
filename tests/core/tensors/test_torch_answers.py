"""What torch says of shapes and strides, and the values of a broadcast."""

import pytest

from core.tensors.broadcasting import broadcast
from core.tensors.layout import contiguous
from core.tensors.rules import permute
from core.tensors.torch_answers import broadcast_values, view_refusal


def test_a_view_that_is_refused_has_torchs_words_and_one_that_is_not_has_none():
    x = contiguous((2, 3))
    assert "spans across two contiguous subspaces" in view_refusal(
        permute(x, (1, 0)), "int64", (6,)
    )
    assert "invalid for input of size 6" in view_refusal(x, "float32", (4,))
    assert view_refusal(x, "float32", (-1,)) == ""


@pytest.mark.parametrize("shapes", [((3, 1), (1, 4)), ((), (2,)), ((0, 3), (1, 3)), ((2, 1), (3,))])
def test_the_values_of_a_broadcast_add_up(shapes):
    *stretched, result = broadcast_values(broadcast(dict(zip("ab", shapes, strict=True)), 4))
    assert (sum(stretched) == result).all()
    assert all(x.shape == result.shape for x in stretched)


def test_the_first_operand_counts_in_tens():
    a, b, result = broadcast_values(broadcast({"a": (3, 1), "b": (1, 4)}, 4))
    assert (a[2, 0].item(), b[0, 3].item(), result[2, 3].item()) == (20, 3, 23)


def test_shapes_that_do_not_go_together_have_no_values():
    with pytest.raises(ValueError, match="do not go together"):
        broadcast_values(broadcast({"a": (3,), "b": (4,)}, 4))
