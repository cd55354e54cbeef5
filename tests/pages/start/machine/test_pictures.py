"""The pictures of This machine: what was tried of each dtype, and the layers of the stack."""

from dataclasses import replace

import pytest

from core.figures.picture import Look
from core.machine import DtypeVerdict, Trial, describe_machine
from core.machine.stack import software_stack
from pages.start.machine.machine import OPERATIONS, dtypes_picture, usable_dtypes
from pages.start.machine.stack import stack_picture
from tests.made_probe import PROBE


def verdict(name, **failed):
    trials = tuple(
        Trial(operation=each, works=each not in failed, message=failed.get(each, ""))
        for each in OPERATIONS
    )
    return DtypeVerdict(name=name, item_bytes=1, trials=trials)


@pytest.fixture
def device():
    return replace(
        PROBE.devices[0],
        dtypes=(
            verdict("float8_e5m2", add="no sum\nsecond line"),
            verdict("float32"),
            verdict("int4", convert="no", add="no", matmul="no"),
        ),
    )


@pytest.fixture
def layers():
    return software_stack(describe_machine(), PROBE)


def test_a_cell_says_whether_it_worked_and_what_torch_said(device):
    picture = dtypes_picture(device, Look())
    (cells,) = picture.figure.data

    assert [each.name for each in usable_dtypes(device)] == ["float32", "float8_e5m2"]
    assert list(cells.x) == ["float32", "float8_e5m2"]
    assert [list(row) for row in cells.z] == [[1, 1], [1, 1], [1, 0], [1, 1]]
    assert cells.customdata[2][1] == "no sum"
    assert cells.text[2] == ["✓", "✗"]
    assert list(picture.table["PyTorch says"]) == ["", "no sum"]
    assert "cpu 1 dtypes" in picture.alt
    assert "1 others" in picture.alt


def test_each_layer_is_a_bar_with_its_versions_and_the_calls_go_down(layers):
    picture = stack_picture(layers, Look())
    (bars,) = picture.figure.data

    assert list(bars.y) == [layer.name for layer in layers]
    assert all(layer.found in text for layer, text in zip(layers, bars.text, strict=True))
    assert picture.figure.layout.yaxis.autorange == "reversed"
    assert [note.text for note in picture.figure.layout.annotations] == ["▼"] * (len(layers) - 1)
    places = [picture.alt.index(layer.found) for layer in layers]
    assert places == sorted(places)
