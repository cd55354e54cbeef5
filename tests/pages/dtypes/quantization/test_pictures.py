"""The pictures of the quantization page hold the numbers that were computed."""

import json

import numpy as np
import pytest

from core.dtypes.blocks.nf4 import make_code_use
from core.dtypes.blocks.sample_tensors import SAMPLE_NAMES, looked_at, teaching_tensor
from core.dtypes.blocks.storage import find_storage
from core.dtypes.blocks.storage_trials import (
    best_per_bit,
    make_losses,
    try_all,
)
from core.dtypes.blocks.stored_part import make_sides
from core.figures.picture import Look
from pages.dtypes.quantization.codes import codes_picture, hovers, short_number
from pages.dtypes.quantization.error import error_picture
from pages.dtypes.quantization.nf4 import nf4_picture
from pages.dtypes.quantization.quality import standing_picture

PAIR = (find_storage("nvfp4"), find_storage("int8_tensor_affine"))


def tensor(name="normal", side=64):
    return looked_at(teaching_tensor(name, side, 0))


def sides(name="normal"):
    return make_sides(tensor(name), PAIR, "largest", num_rows=16, num_columns=16)


def trials(name="normal"):
    names = ("nvfp4", "int8_tensor_affine", "mxfp4", "nf4", "float16")
    return try_all(tensor(name), [find_storage(each) for each in names])


def pictures(name, look):
    """Return each picture of a tensor."""
    x = tensor(name)
    return {
        "codes": codes_picture(sides(name), look),
        "error": error_picture(make_losses(x, PAIR), look),
        "standing": standing_picture(trials(name), (PAIR[0].name, PAIR[1].name), look),
        "nf4": nf4_picture(make_code_use(x), look),
    }


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_every_picture_of_every_sample_has_a_sentence_and_a_table(name):
    for tab, picture in pictures(name, Look(mode="dark", present=True)).items():
        assert len(picture.alt) > 40, tab
        assert picture.alt.endswith("."), tab
        for wrong in ("nan dB", "inf dB", "-0.00 of"):
            assert wrong not in picture.alt, tab
        assert len({len(column) for column in picture.table.values()}) == 1, tab
        assert json.loads(picture.figure.to_json())["data"], tab
        assert picture.figure.layout.font.size >= 18, tab


def test_a_cell_shows_what_the_code_means_and_its_hover_the_whole_product():
    side, affine = sides()
    figure = codes_picture((side, affine), Look()).figure

    texts = {
        (trace.xaxis, row, column): text
        for trace in figure.data
        if trace.type == "scatter" and trace.mode == "text" and not trace.hovertext
        for row, column, text in zip(trace.y, trace.x, trace.text, strict=True)
    }
    assert len(texts) == 2 * 256
    for column, value in enumerate(side.numbers[3]):
        assert texts["x", 3, column] == short_number(value)
    hover = hovers(side)[0][0]
    assert f"× {side.spans[0].scale:.6g} = {side.restored[0, 0]:.6g}" in hover
    assert f"was {side.original[0, 0]:.6g}" in hover
    assert f"− {affine.spans[0].zero_point:g})" in hovers(affine)[0][0]


def test_where_the_tensor_has_ended_the_cell_says_so():
    side, _other = make_sides(np.ones((1, 3)), PAIR, "first", num_rows=16, num_columns=16)

    assert hovers(side)[0][3] == "Here the tensor has ended."
    assert "code 0x" in hovers(side)[0][2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.0, "0"), (-0.0, "0"), (1.5, "1.5"), (-6.0, "-6"), (448.0, "448"), (0.0193, ".019")),
        *((-0.75, "-.75"), (57344.0, "6e4"), (2.0**-127, "6e-39"), (12.34, "12.3")),
        *((float("nan"), "nan"), (float("-inf"), "-inf")),
    ],
)
def test_a_number_in_a_cell_is_short(value, text):
    assert short_number(value) == text


def test_each_format_is_a_point_at_its_bits_and_decibels():
    found = trials()
    figure = standing_picture(found, ("nvfp4", "int8_tensor_affine"), Look()).figure

    points = next(trace for trace in figure.data if trace.mode == "markers")
    assert set(zip(points.text, points.x, points.y, strict=True)) == {
        (trial.name, trial.bits, trial.stats.sqnr_db) for trial in found
    }
    assert list(points.text[-2:]) == ["nvfp4", "int8_tensor_affine"], "A and B lie on top"
    labels = {note.text for note in figure.layout.annotations}
    assert labels == {"<b>nvfp4</b>", "<b>int8_tensor_affine</b>", "mxfp4", "nf4", "float16"}
    front = next(trace for trace in figure.data if trace.mode == "lines")
    assert list(front.x) == [trial.bits for trial in best_per_bit(found)]
