"""The picture of the dtypes says what was tried and what torch answered."""

from dataclasses import replace

import pytest

from core.figures.picture import Look
from core.figures.start.machine.dtypes import OPERATIONS, dtypes_picture, told_dtypes
from core.machine import DtypeVerdict, Trial


def verdict(name, **failed):
    trials = tuple(
        Trial(operation=each, works=each not in failed, message=failed.get(each, ""))
        for each in OPERATIONS
    )
    return DtypeVerdict(name=name, item_bytes=1, trials=trials)


@pytest.fixture
def device(made_probe):
    return replace(
        made_probe.devices[0],
        dtypes=(
            verdict("float8_e5m2", add="no sum\nsecond line"),
            verdict("float32"),
            verdict("int4", convert="no", add="no", matmul="no"),
        ),
    )


def test_a_dtype_that_only_exists_is_left_out_and_whole_ones_come_first(device):
    assert [each.name for each in told_dtypes(device)] == ["float32", "float8_e5m2"]


def test_a_cell_says_whether_it_worked_and_what_torch_said(device):
    picture = dtypes_picture(device, Look())
    (cells,) = picture.figure.data

    assert list(cells.x) == ["float32", "float8_e5m2"]
    assert [list(row) for row in cells.z] == [[1, 1], [1, 1], [1, 0], [1, 1]]
    assert cells.customdata[2][1] == "no sum"
    assert cells.text[2] == ["✓", "✗"]
    assert list(picture.table["PyTorch says"]) == ["", "no sum"]
    assert "cpu 1 dtypes" in picture.alt
    assert "1 others" in picture.alt


def test_an_operation_that_was_not_tried_is_left_empty(made_probe):
    trials = tuple(Trial(operation=each, works=True) for each in ("create", "add"))
    dtypes = (DtypeVerdict(name="float32", item_bytes=4, trials=trials),)
    device = replace(made_probe.devices[0], dtypes=dtypes)

    (cells,) = dtypes_picture(device, Look()).figure.data
    assert [row[0] for row in cells.z] == [1, None, 1, None]
