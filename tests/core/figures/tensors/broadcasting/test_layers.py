"""Cells in the colours of their meanings."""

import pytest

from core.figures.picture import Drawing, Look
from core.figures.tensors.broadcasting.layers import draw_layers

LEVELS = [[0, 1, 1], [2, 0, 1]]
SHARES = (("accent", 0.8), ("works", 0.5), ("refused", 0.3))


def heatmaps(look, **place):
    drawing = Drawing()
    draw_layers(drawing, LEVELS, SHARES, look, **place)
    return drawing.figure(look.layout()).data


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_each_meaning_is_a_layer_of_its_own_colour_and_share(mode):
    look = Look(mode=mode)
    layers = heatmaps(look)

    assert [each.opacity for each in layers] == [share for _meaning, share in SHARES]
    for (meaning, _share), layer in zip(SHARES, layers, strict=True):
        assert {color for _at, color in layer.colorscale} == {look.color(meaning)}


def test_every_cell_lies_in_exactly_the_layer_of_its_level():
    layers = heatmaps(Look())
    for i, row in enumerate(LEVELS):
        for j, level in enumerate(row):
            filled = [at for at, layer in enumerate(layers) if layer.z[i][j] is not None]
            assert filled == [level], (i, j)


def test_cells_stand_from_the_given_column_on_the_given_axes():
    for layer in heatmaps(Look(), left=5.5, axes=("x2", "y2")):
        assert list(layer.x) == [5.5, 6.5, 7.5]
        assert (layer.xaxis, layer.yaxis) == ("x2", "y2")
