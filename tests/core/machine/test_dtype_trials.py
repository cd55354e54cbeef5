"""Dtypes tried live: the verdicts against torch itself."""

import pytest
import torch

from core.machine.dtype_trials import torch_dtypes, try_dtypes


@pytest.fixture(scope="module")
def verdicts():
    return {verdict.name: verdict for verdict in try_dtypes("cpu")}


def test_every_dtype_of_this_torch_is_tried_once(verdicts):
    everything = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}

    assert set(verdicts) == {str(dtype).removeprefix("torch.") for dtype in everything}
    assert all(verdicts[name].item_bytes == dt.itemsize for name, dt in torch_dtypes().items())


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "float16", "int32", "uint8"])
def test_the_common_dtypes_do_everything(verdicts, name):
    assert verdicts[name].works
    assert [trial.operation for trial in verdicts[name].trials] == [
        "create",
        "convert",
        "add",
        "matmul",
    ]


def test_eight_bit_floats_multiply_matrices_but_do_not_add(verdicts):
    trials = {trial.operation: trial for trial in verdicts["float8_e4m3fn"].trials}

    assert trials["matmul"].works
    with pytest.raises(NotImplementedError) as caught:
        torch.ones(2).to(torch.float8_e4m3fn) + torch.ones(2).to(torch.float8_e4m3fn)
    assert trials["add"].message == str(caught.value)


def test_int4_exists_and_cannot_be_filled(verdicts):
    trials = {trial.operation: trial for trial in verdicts["int4"].trials}

    assert trials["create"].works
    assert "not implemented for 'Int4'" in trials["convert"].message


def test_true_plus_true_is_true_and_counts_as_working(verdicts):
    trials = {trial.operation: trial for trial in verdicts["bool"].trials}

    assert trials["add"].works
    assert not trials["matmul"].works


def test_a_wrong_result_is_not_a_working_dtype(monkeypatch):
    monkeypatch.setattr("core.machine.dtype_trials.SIDE", 300)

    verdicts = {verdict.name: verdict for verdict in try_dtypes("cpu")}

    matmul = verdicts["uint8"].trials[3]  # 300 does not fit into eight bits: 300 - 256 = 44
    assert (matmul.works, matmul.message) == (False, "gave 44 where 300 is right")
