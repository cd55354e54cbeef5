"""What fills a tensor while a module is made, held against torch's own rules and real draws."""

import math

import pytest
import torch
from torch import nn

from core.models.describe import describe
from core.models.first_values import FirstValues


def drawn_in(make, device="meta"):
    with FirstValues() as drawn, torch.device(device):
        module = make()
    return {name: drawn.of(each) for name, each in module.named_parameters()}


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_torchs_linear_layer_draws_uniformly_up_to_one_by_the_root_of_its_inputs(device):
    bound = f"{1 / math.sqrt(64):.4g}"
    assert drawn_in(lambda: nn.Linear(64, 8), device) == {
        "weight": f"U(-{bound}, {bound})", "bias": f"U(-{bound}, {bound})"
    }  # fmt: skip
    weight = nn.Linear(64, 256).weight
    assert weight.abs().max().item() == pytest.approx(float(bound), rel=0.01)


def test_norms_start_as_ones_and_zeros_and_embeddings_as_n_0_1():
    assert drawn_in(lambda: nn.LayerNorm(8)) == {"weight": "1", "bias": "0"}
    assert drawn_in(lambda: nn.Embedding(5, 8)) == {"weight": "N(0, 1)"}


def test_the_last_draw_counts():
    def made_twice():
        layer = nn.Linear(8, 8)
        nn.init.normal_(layer.weight, mean=0.5, std=0.02)
        nn.init.zeros_(layer.bias)
        return layer

    assert drawn_in(made_twice) == {"weight": "N(0.5, 0.02)", "bias": "0"}


def test_a_scaled_normal_says_its_standard_deviation():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(0.02 * torch.randn(4, 4))

    assert drawn_in(Scaled) == {"w": "N(0, 0.02)"}


def test_a_tensor_that_nobody_watched_says_nothing():
    watched = FirstValues()
    assert watched.of(torch.ones(3)) == ""
    layer = nn.Linear(3, 3, device="meta")
    assert {leaf.init for _path, leaf in describe(layer, watched).leaves()} == {""}
