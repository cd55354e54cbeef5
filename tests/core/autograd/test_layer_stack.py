"""The stack of layers that is measured."""

import pytest
import torch

from core.autograd.layer_stack import LAYERS, Stack


def test_it_is_the_same_at_every_call_and_changes_nothing_global():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    stack = Stack(batch_size=4, width=8, num_layers=3)
    assert torch.equal(stack.rows(), stack.rows())
    for one, other in zip(stack.weights(), stack.weights(), strict=True):
        assert torch.equal(one, other)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("layer", list(LAYERS))
def test_a_layer_is_what_its_code_says(layer):
    stack = Stack(batch_size=4, width=8, num_layers=1, layer=layer)
    (w,), h = stack.weights(), stack.rows()
    names = {"F": torch.nn.functional, "h": h, "w": w}
    wanted = eval(LAYERS[layer].code, names)  # noqa: S307  our own table
    assert torch.equal(stack.run(h, [w]), wanted)


def test_on_meta_shapes_are_there_and_numbers_are_not():
    stack = Stack(batch_size=2**20, width=2**14, num_layers=2, on_meta=True)
    assert stack.rows().device.type == "meta"
    assert [each.shape for each in stack.weights()] == [(2**14, 2**14)] * 2
