import numpy as np
import pytest

from core.train.text.token_files import (
    DTYPES,
    LLAMA_TOKENS,
    bytes_of_tokens,
    load_checkpoints,
    write_token_files,
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_raw_bytes_are_the_tokens_and_npy_adds_a_header_of_128_bytes(dtype):
    files = write_token_files(np.arange(1000, dtype=np.uint16), dtype)
    assert files.raw_bytes == 1000 * np.dtype(dtype).itemsize
    assert files.npy_bytes - files.raw_bytes == 128  # numpy.lib.format pads it to a multiple of 64
    assert files.has_same_tokens


def test_np_load_refuses_raw_bytes_in_its_own_words(tmp_path):
    np.arange(9, dtype=np.int32).tofile(tmp_path / "data.npy")
    with pytest.raises(ValueError, match="pickled") as refused:
        np.load(tmp_path / "data.npy")
    assert write_token_files(np.arange(9, dtype=np.uint16), "int32").error == str(refused.value)


def test_the_text_of_llama_takes_2_8_terabytes():
    assert bytes_of_tokens(LLAMA_TOKENS, "uint16").amount == 2.8e12
    assert bytes_of_tokens(LLAMA_TOKENS, "int32").amount == 5.6e12


def test_torch_refuses_what_is_no_tensor_or_plain_value_and_runs_nothing(capsys):
    loaded = {each.written: each.error for each in load_checkpoints()}
    assert [name for name, error in loaded.items() if not error] == [
        '{"model": model.state_dict(), "step": 7}',
        '{"best_loss": float(best_loss)}',
    ]
    for name, part in {
        '{"best_loss": np.float64(0.5)}': "numpy._core.multiarray.scalar",
        "model": "torch.nn.modules.linear.Linear",
        "an object whose pickle calls print(...)": "GLOBAL print",
    }.items():
        assert part in loaded[name]
    assert capsys.readouterr().out == ""
