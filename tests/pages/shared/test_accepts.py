"""What an input accepts from the address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.shared import accepts


@given(st.integers(-1000, 1000))
def test_a_whole_number_survives_the_address(value):
    accepted = accepts.number_between(-1000, 1000, 0)
    assert accepted.read(accepted.write(value)) == value
    assert type(accepted.read(accepted.write(value))) is int


@given(st.floats(-1e6, 1e6))
def test_a_number_survives_the_address(value):
    accepted = accepts.number_between(-1e6, 1e6, 0.0)
    assert accepted.read(accepted.write(value)) == value


@pytest.mark.parametrize("text", ["11", "-1", "3.5", "nan", "inf", "1e9", "", "three", "0x3"])
def test_what_is_no_whole_number_in_range_is_not_read(text):
    assert accepts.number_between(0, 10, 3).read(text) is None


@pytest.mark.parametrize("text", ["1.5", "nan", "-inf", "1e400"])
def test_what_is_no_number_in_range_is_not_read(text):
    assert accepts.number_between(0.0, 1.0, 0.5).read(text) is None


def test_a_number_says_what_it_allows():
    assert accepts.number_between(0, 10, 3).allowed() == "a whole number from 0 to 10"
    assert accepts.number_between(0.0, 1.0, 0.5).allowed() == "0.0 to 1.0"


def test_a_default_outside_the_range_is_our_mistake():
    with pytest.raises(ValueError, match="default 11 must lie between 0 and 10"):
        accepts.number_between(0, 10, 11)


@pytest.mark.parametrize(("options", "default"), [([1, 2], 3), ([1, "1"], 1)])
def test_options_need_a_default_and_different_words(options, default):
    with pytest.raises(ValueError, match="must be one of"):
        accepts.one_of(options, default)
