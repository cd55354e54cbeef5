"""The line of tensors: what is written is read again, and what cannot be read is named."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.autograd.leaves import leaves_in, written_leaves

NUMBERS = st.floats(-1000, 1000, width=16)


@given(st.dictionaries(st.sampled_from("abwxyz"), st.lists(NUMBERS, min_size=1, max_size=5)))
def test_what_is_written_is_read_again(values):
    leaves = {name: torch.tensor(each, requires_grad=name < "x") for name, each in values.items()}
    again = leaves_in(written_leaves(leaves))
    assert list(again) == list(leaves)
    for name, x in leaves.items():
        assert torch.allclose(again[name], x)
        assert again[name].requires_grad == x.requires_grad


def test_data_may_be_integers_and_leaves_are_float32():
    found = leaves_in("w = 2; k = [1, 0] (data)")
    assert (found["w"].dtype, found["k"].dtype) == (torch.float32, torch.int64)


def test_infinity_and_nan_are_numbers():
    found = leaves_in("x = [0.0, inf]; y = [[-inf, 1], [nan, 2]] (data)")
    assert found["x"].tolist() == [0, float("inf")]
    assert found["x"].requires_grad
    assert found["y"].isnan().tolist() == [[False, False], [True, False]]
    text = written_leaves(found)
    assert text == "x = [0.0, inf]; y = [[-inf, 1.0], [nan, 2.0]] (data)"
    assert written_leaves(leaves_in(text)) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("w", "cannot be read"),
        ("2w = 1", "cannot be read"),
        ("w = [[1, 2], [3]]", "must be a number"),
        ("w = __import__('os')", "must be a number"),
        ("w = 'a'", "must be a number"),
        ("w = [1.0, infinite]", "must be a number"),
        ("w = inf()", "must be a number"),
        ("w = [1.0, 2j]", "must be a number"),
        (f"w = {[1.0] * 65}", "65 elements"),
        ("w = 1; w = 2", "given twice"),
        ("; ".join(f"w{n} = 1" for n in range(13)), "13 tensors"),
        (f"w = {'[' * 9}1{']' * 9}", "9 dimensions"),
        (f"w = {'[' * 3000}1{']' * 3000}", "must be a number"),
    ],
)
def test_what_cannot_be_read_is_named(text, words):
    with pytest.raises(ValueError, match=words):
        leaves_in(text)
