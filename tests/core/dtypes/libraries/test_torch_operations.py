"""The matrix of operations and dtypes, against what is known of this torch."""

import pytest
import torch

from core.dtypes.libraries.torch_operations import (
    OPERATIONS,
    subject_of,
    torch_dtypes,
    try_operations,
)


@pytest.fixture(scope="module")
def verdicts():
    return {(row.dtype, row.operation): row for row in try_operations("cpu")}


def test_every_dtype_of_torch_is_tried_with_every_operation(verdicts):
    assert len(verdicts) == len(torch_dtypes()) * len(OPERATIONS)
    assert {"float32", "bfloat16", "float8_e4m3fn", "int4", "quint8", "bits8"} <= {
        dtype for dtype, _ in verdicts
    }


def test_bfloat16_can_do_everything_but_become_numpy(verdicts):
    failures = [op for (name, op), row in verdicts.items() if name == "bfloat16" and not row.works]
    assert failures == ["numpy"]
    assert "BFloat16" in verdicts["bfloat16", "numpy"].message


def test_fp8_multiplies_but_cannot_add_and_its_scales_are_no_matrix(verdicts):
    assert verdicts["float8_e4m3fn", "multiply"].works
    assert verdicts["float8_e4m3fn", "matmul"].works
    assert not verdicts["float8_e4m3fn", "add"].works
    assert "not implemented for 'Float8_e4m3fn'" in verdicts["float8_e4m3fn", "add"].message
    assert verdicts["float8_e8m0fnu", "multiply"].works
    assert not verdicts["float8_e8m0fnu", "matmul"].works


def test_dtypes_of_few_bits_are_names_for_bytes(verdicts):
    assert subject_of(torch.int4, "cpu").is_raw
    assert not subject_of(torch.int8, "cpu").is_raw
    assert verdicts["int4", "create"].works
    assert verdicts["int4", "cat"].works
    assert not verdicts["int4", "from float32"].works
    assert not verdicts["float4_e2m1fn_x2", "to float32"].works


def test_a_message_is_one_short_line(verdicts):
    for row in verdicts.values():
        assert row.works == (not row.message)
        assert "\n" not in row.message
        assert len(row.message) <= 300


def test_a_wrong_result_does_not_count_as_working(monkeypatch):
    changed = {**OPERATIONS, "add": (lambda s: s.ones + s.ones + s.ones, 2.0)}
    monkeypatch.setattr("core.dtypes.libraries.torch_operations.OPERATIONS", changed)
    rows = {(r.dtype, r.operation): r for r in try_operations("cpu")}
    assert rows["float32", "add"].message == "gave 3 where 2 is right"
    assert rows["bool", "add"].works, "True + True is True"
