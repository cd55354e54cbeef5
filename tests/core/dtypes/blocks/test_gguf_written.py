"""GGUF blocks against those that ggml's own C library writes of the same values.

`written_by_ggml.npz` holds values in float16 and, type by type, the bytes that ggml_quantize_chunk
of libggml-base 0.13.1 (f24588a, in pywhispercpp 1.5.1) wrote of them, without importance matrix.
"""

from pathlib import Path

import numpy as np
import pytest

from core.dtypes.blocks.gguf_formats import GGUF_FORMATS
from tests.core.dtypes.blocks.gguf_bytes import pack, unpack

TENSORS = ("normal", "heavy", "positive", "small")


@pytest.fixture(scope="module")
def written():
    with np.load(Path(__file__).with_name("written_by_ggml.npz")) as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("name", ["Q8_0", "Q4_0"])
def test_every_byte_is_the_one_that_ggml_writes(written, name):
    for kind in TENSORS:
        ours = pack(name, GGUF_FORMATS[name].quantize(written[f"values/{kind}"]).parts)
        np.testing.assert_array_equal(ours, written[f"{name}/{kind}"], err_msg=kind)


@pytest.mark.parametrize("name", ["Q6_K", "Q5_K", "Q4_K"])
def test_blocks_of_the_k_types_are_those_that_ggml_writes_but_for_the_order_of_sums(written, name):
    """Between two grids that fit nearly alike the last bits of float32 sums choose."""
    same = num_blocks = 0
    for kind in TENSORS:
        ours = pack(name, GGUF_FORMATS[name].quantize(written[f"values/{kind}"]).parts)
        theirs = written[f"{name}/{kind}"]
        same += (ours == theirs).all(axis=1).sum()
        num_blocks += len(theirs)
    assert num_blocks == 48
    assert same >= 0.85 * num_blocks, same


@pytest.mark.parametrize("name", GGUF_FORMATS)
def test_what_comes_back_is_as_far_off_as_what_ggml_wrote(written, name):
    fmt = GGUF_FORMATS[name]
    for kind in TENSORS:
        values = written[f"values/{kind}"].astype(np.float64)
        theirs = fmt.dequantize(
            fmt.quantized(unpack(name, written[f"{name}/{kind}"]), values.shape)
        )
        lost = [np.square(each - values).sum() for each in (fmt.round(values), theirs)]
        assert lost[0] == pytest.approx(lost[1], rel=5e-3), kind
