"""The programs under the tabs of Bit layouts, for codes that are no ordinary number."""

import contextlib
import io

import pytest

from pages.dtypes.bit_layouts.snippets import number_snippet


@pytest.mark.parametrize(
    ("name", "code", "first"),
    [
        ("float8_e8m0fnu", 0xFF, "11111111 = nan"),
        ("float8_e5m2", 0xFC, "11111100 = -inf"),
        ("float4_e2m1fn", 0x8, "1000 = (-1)^1 × 2^(1 - 1) × (0 + 0/2) = -0.0"),
        ("nf4", 0x7, "0111 = values[7] = 0.0"),
        ("int8", 0x80, "10000000 = -128 + 0 = -128"),
    ],
)
def test_the_program_takes_specials_zeros_and_integers_apart(name, code, first):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(number_snippet(name, code), {})  # noqa: S102  our own program

    assert printed.getvalue().splitlines()[0] == first
