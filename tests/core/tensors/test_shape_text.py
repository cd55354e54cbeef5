"""Shapes as texts, and one length exchanged for another."""

import pytest

from core.tensors.shape_text import ABSENT, STOPS, shape_in, stops_of, with_length, written_shape


@pytest.mark.parametrize("shape", [(), (4,), (3, 1), (1, 2, 3, 4, 5), (0,)])
def test_a_shape_comes_back_from_its_text_and_from_its_repr(shape):
    assert shape_in(written_shape(shape)) == shape
    assert shape_in(str(shape)) == shape


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a list"), ("a, b", "not a list"), ("-1, 2", "not a list"), ("1.5", "not a list"),
        ("1,2,3,4,5,6", "up to 5"), ("9999999", "too large"), ("1000000, 1000000, 9", "too large"),
    ],
)  # fmt: skip
def test_what_is_no_shape_is_refused_with_its_text(text, said):
    with pytest.raises(ValueError, match=said) as refused:
        shape_in(text)
    assert repr(text) in str(refused.value)


def test_dragging_a_missing_dimension_fills_the_way_with_ones():
    assert with_length((4,), -3, 2) == (2, 1, 4)
    assert with_length((3, 1), -1, 4) == (3, 4)
    assert with_length((), -1, 4) == (4,)


def test_a_dimension_goes_only_where_it_takes_no_other_along():
    assert stops_of((3, 1), -2)[0] == ABSENT
    assert stops_of((3, 1), -1)[0] == 0
    assert stops_of((3, 1), -4)[0] == ABSENT
    assert with_length((3, 1), -2, ABSENT) == (1,)
    assert with_length((1,), -1, ABSENT) == ()


def test_the_length_as_it_is_stands_among_the_stops():
    assert 777 in stops_of((777,), -1)
    assert [each for each in stops_of((777, 2), -1) if each != ABSENT] == sorted(STOPS)
