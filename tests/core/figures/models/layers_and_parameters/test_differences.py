"""The table of what ran and what failed."""

from core.figures.models.layers_and_parameters.differences import differences_picture
from core.figures.picture import Look
from core.tensors.against_ndarray import differences


def test_a_cell_says_what_came_of_its_program():
    found = differences()
    picture = differences_picture(found, Look())
    (heatmap,) = picture.figure.data
    assert [list(row) for row in heatmap.z] == [[0, 1]] * len(found), "float64 is not float32"
    for row, each in zip(heatmap.text, found, strict=True):
        for cell, answer, mark in zip(row, (each.ndarray, each.tensor), "✗✓", strict=True):
            assert cell[0] == mark
            assert answer.says.startswith(cell[2:8])
    assert picture.table["ndarray"] == [each.ndarray.says for each in found]


def test_on_a_projector_letters_are_large_and_words_short():
    (small,), (large,) = (
        differences_picture(differences(), Look(present=present)).figure.data
        for present in (False, True)
    )
    assert large.textfont.size >= 22 > small.textfont.size
    assert max(len(cell) for row in large.text for cell in row) <= 17
    assert any("return sin" in cell for row in small.text for cell in row)
