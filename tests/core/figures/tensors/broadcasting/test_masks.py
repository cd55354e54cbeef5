"""A mask beside the weights that torch made with it."""

import pytest

from core.figures.picture import Look
from core.figures.tensors.broadcasting.masks import mask_picture
from core.tensors.masks import MaskSpec, run_mask


def drawn(amount=0, route="sdpa", kind="tril", length=4, **look):
    spec = MaskSpec(kind=kind, length=length, amount=amount, inverted=False, route=route)
    return mask_picture(run_mask(spec), Look(**look), has_order=kind != "padding")


def count(trace):
    return sum(each is not None for row in trace.z for each in row)


def layers(picture):
    """Return the cells of the right panel: not seen, seen, in the future, NaN."""
    return [count(trace) for trace in picture.figure.data if trace.type == "heatmap"][4:]


def test_a_causal_mask_sees_the_lower_triangle():
    picture = drawn()
    assert layers(picture) == [6, 10, 0, 0]
    assert picture.table["keys seen"] == [1, 2, 3, 4]
    words = picture.figure.data[-1]
    assert words.text[4:8] == ("0.50", "0.50", "0", "0")


def test_what_lies_in_the_future_has_a_colour_of_its_own_unless_there_is_no_order():
    assert layers(drawn(kind="triu")) == [6, 4, 6, 0]
    assert layers(drawn(1, kind="padding"))[2] == 0


def test_a_row_of_nan_is_written_in_words():
    picture = drawn(route="mha")
    assert layers(picture)[3] == 4
    assert "without a key: 1; rows of weights that are NaN: 1" in picture.alt
    assert "NaN" in picture.figure.data[-1].text


@pytest.mark.parametrize("present", [False, True])
def test_twelve_tokens_fit(present):
    picture = drawn(length=12, present=present)
    assert picture.figure.layout.height <= 430
    assert len(picture.table["query"]) == 12
