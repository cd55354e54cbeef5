"""Shades of codes: never weaker for a larger number, 0 for zero, 1 for the largest."""

import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.facts.shade import magnitude_share

SMALL = [fmt for fmt in FORMATS.values() if fmt.bits <= 8]


@pytest.mark.parametrize("fmt", SMALL, ids=lambda fmt: fmt.name)
def test_a_larger_number_is_never_weaker(fmt):
    codes = np.arange(fmt.num_codes)
    sizes = np.abs(fmt.decode(codes))
    found = {code: magnitude_share(fmt, code) for code in codes if np.isfinite(sizes[code])}
    ordered = sorted(found, key=lambda code: sizes[code])
    shares = [found[code] for code in ordered]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert all(0 <= share <= 1 for share in shares)
    assert all(found[code] == 0 for code in found if sizes[code] == 0)


def test_what_is_no_number_is_as_strong_as_the_largest():
    float16 = FORMATS["float16"]
    assert magnitude_share(float16, 0x7C00) == magnitude_share(float16, 0x7BFF) == 1
    assert magnitude_share(float16, 0x3C00) == 15 / 30
