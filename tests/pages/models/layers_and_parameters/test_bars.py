"""Bars: shares that add up, bytes in the reader's unit, and a layer that refuses."""

import pytest

from core.figures.picture import Look
from core.models.chosen import flops_of, tree_of
from core.models.layer_zoo import LAYERS, visit
from core.models.module_flops import module_rows
from core.models.spec import GPTShape
from core.units import GIB
from pages.models.layers_and_parameters.layer_zoo import zoo_picture
from pages.models.layers_and_parameters.parameters import modules_picture
from pages.models.layers_and_parameters.trainable import bytes_picture

SHAPE = GPTShape(num_layers=3, hidden_dim=32, num_heads=4, vocab_size=65, seq_len=16)
CASES = {"all": {"weights": 4 * GIB, "optimizer": 8 * GIB}, "LoRA": {"weights": 4 * GIB}}


@pytest.fixture(scope="module")
def rows():
    return module_rows(tree_of(SHAPE), flops_of(SHAPE))


def test_shares_are_those_of_the_rows_and_add_up_to_one(rows):
    params, flops = modules_picture(rows, Look()).figure.data
    assert sum(params.x) == pytest.approx(1)
    assert sum(flops.x) == pytest.approx(1)
    tokens = list(params.y).index("tokens")
    assert params.x[tokens] == SHAPE.vocab_size * SHAPE.hidden_dim / tree_of(SHAPE).num_params
    assert flops.x[tokens] == 0


def test_bytes_are_drawn_in_the_readers_unit_with_their_totals():
    figure = bytes_picture(CASES, Look(unit="GiB")).figure
    weights, _gradients, optimizer = figure.data
    assert (list(weights.x), list(optimizer.x)) == ([4, 4], [8, 0])
    totals = {each.y: (each.x, each.text) for each in figure.layout.annotations}
    assert {name: place for name, (place, _text) in totals.items()} == {"all": 12, "LoRA": 4}
    assert all("GiB" in text for _place, text in totals.values())
    assert figure.layout.xaxis.range[1] > 12
    in_gb = bytes_picture(CASES, Look(unit="GB")).figure.data[0]
    assert in_gb.x[0] == pytest.approx(4 * GIB / 1e9)


def test_a_layer_that_refuses_is_marked_and_has_no_bar():
    visits = [visit(name, 1) for name in LAYERS]
    picture = zoo_picture(visits, "BatchNorm1d", Look())
    train, resting = picture.figure.data
    place = list(train.y).index("BatchNorm1d")
    assert train.x[place] is None
    assert resting.x[place] == visits[place].eval_std
    assert [each.y for each in picture.figure.layout.annotations] == ["BatchNorm1d"]
    assert "more than 1 value per channel" in picture.table["torch says"][place]


def test_the_chosen_layer_has_a_frame():
    visits = [visit(name, 4) for name in LAYERS]
    train = zoo_picture(visits, "Dropout", Look()).figure.data[0]
    framed = [n for n, w in zip(train.y, train.marker.line.width, strict=True) if w]
    assert framed == ["Dropout"]
