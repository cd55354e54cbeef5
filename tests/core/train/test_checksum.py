import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.train.checksum import row_checksums


@given(st.integers(1, 80), st.binary(max_size=2000))
def test_every_row_has_the_checksum_that_zlib_gives_it(num_bytes, data):
    num_rows = len(data) // num_bytes
    rows = np.frombuffer(data, np.uint8, num_rows * num_bytes).reshape(num_rows, num_bytes)
    assert row_checksums(rows).tolist() == [zlib.crc32(row.tobytes()) for row in rows]


def test_rows_that_fill_several_blocks_agree_too():
    rows = np.random.default_rng(0).integers(0, 256, (9001, 72), np.uint8)
    assert row_checksums(rows).tolist() == [zlib.crc32(row.tobytes()) for row in rows]
