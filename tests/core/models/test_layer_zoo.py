"""Layers of torch: counts by hand, what the two modes change, and torch's own refusal."""

import pytest
import torch
from torch import nn

from core.models.layer_zoo import DROPOUT, LAYERS, TOKENS, VOCABULARY, WIDTH, visit

COUNTS = {
    "Embedding": VOCABULARY * WIDTH,
    "Linear": WIDTH * WIDTH + WIDTH,
    "LayerNorm": 2 * WIDTH,
    "RMSNorm": WIDTH,
    "Dropout": 0,
    "BatchNorm1d": 2 * WIDTH,
    "MultiheadAttention": 4 * (WIDTH * WIDTH + WIDTH),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_has_the_parameters_of_its_formula(name):
    assert visit(name, 4).num_params == COUNTS[name]


def test_shapes_are_what_torch_takes_and_returns():
    for name in LAYERS:
        found = visit(name, 3)
        tokens = {"Embedding": (3, TOKENS), "BatchNorm1d": (3, WIDTH)}
        assert found.input_shape == tokens.get(name, (3, TOKENS, WIDTH)), name
        assert found.output_shape == ((3, WIDTH) if name == "BatchNorm1d" else (3, TOKENS, WIDTH))


def test_only_dropout_and_batch_norm_know_the_mode():
    assert [name for name in LAYERS if visit(name, 8).differs] == ["Dropout", "BatchNorm1d"]


def test_dropout_in_train_spreads_by_the_root_of_what_is_kept():
    found = visit("Dropout", 32)
    assert found.train_std / found.eval_std == pytest.approx((1 / (1 - DROPOUT)) ** 0.5, rel=0.02)


def test_layer_norm_and_batch_norm_in_train_spread_by_1():
    assert visit("LayerNorm", 8).train_std == pytest.approx(1, abs=1e-3)
    assert visit("BatchNorm1d", 8).train_std == pytest.approx(1, abs=2e-3)


def test_a_batch_of_one_is_refused_by_batch_norm_alone_in_torchs_own_words():
    refusals = {name: visit(name, 1).error for name in LAYERS}
    with pytest.raises(ValueError, match="more than 1 value per channel") as refused:
        nn.BatchNorm1d(WIDTH)(torch.randn(1, WIDTH))
    assert {name: error for name, error in refusals.items() if error} == {
        "BatchNorm1d": str(refused.value)
    }
    found = visit("BatchNorm1d", 1)
    assert (found.train_std, found.differs) == (None, True)
    assert found.eval_std == pytest.approx(visit("BatchNorm1d", 1).eval_std)
    assert visit("BatchNorm1d", 2).error == ""


def test_a_visit_leaves_torchs_own_random_numbers_alone():
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    visit("Dropout", 4)
    assert torch.equal(torch.rand(4), expected)
