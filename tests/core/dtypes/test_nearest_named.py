import pytest

from core.dtypes import FORMATS, FloatFormat, float_format
from core.dtypes.nearest_named import nearest_named, same_numbers

NAMED = [fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat)]


@pytest.mark.parametrize("fmt", NAMED, ids=lambda fmt: fmt.name)
def test_a_named_format_is_nearest_to_itself(fmt):
    nearest = nearest_named(fmt)
    assert nearest.differences == ()
    assert same_numbers(fmt, FORMATS[nearest.name])


def test_a_designed_twin_is_recognised_and_a_stranger_says_how_it_differs():
    twin = float_format("twin", 4, 3, infinity=False, num_nans=1)
    assert nearest_named(twin).name == "float8_e4m3fn"
    assert same_numbers(twin, FORMATS["float8_e4m3fn"])

    shifted = float_format("shifted", 4, 3, 9, infinity=False, num_nans=1)
    nearest = nearest_named(shifted)
    assert ("bias", 9, FORMATS[nearest.name].bias) in nearest.differences
    assert not same_numbers(shifted, FORMATS[nearest.name])


def test_a_fixed_point_format_has_a_neighbour_too():
    fixed = float_format("fixed", 0, 5, infinity=False, num_nans=0)
    assert nearest_named(fixed).differences
