import pytest
import torch

from core.models.depth import inside
from core.models.walk import walk
from tests.core.models.small_models import small_model, some_ids


@pytest.fixture
def model():
    return small_model("gpt")


def test_the_lens_at_the_last_layer_is_the_output(model):
    _maps, lens = inside(model, some_ids(9))
    assert lens.shape == (len(model.blocks) + 1, 9, 31)
    with torch.no_grad():
        assert torch.equal(lens[-1], model.logits(some_ids(9))[0])


def test_the_lens_reads_each_residual_stream_with_the_norm_and_the_head(model):
    stages = {stage.name: stage for stage in walk(model, some_ids(9))}
    _maps, lens = inside(model, some_ids(9))
    for layer in range(len(model.blocks) + 1):
        name = f"blocks.{layer - 1}.residual_2" if layer else "blocks.0.norm_1"
        stage = stages[name]
        x = (stage.outputs if layer else stage.inputs)["x"]
        with torch.no_grad():
            expected = model.head(model.norm(x))[0]
        torch.testing.assert_close(lens[layer], expected, msg=name)


def test_attention_maps_are_the_softmax_of_every_layer(model):
    maps, _lens = inside(model, some_ids(9))
    weights = [s.outputs["weights"] for s in walk(model, some_ids(9)) if s.kind == "softmax"]
    assert torch.equal(maps, torch.cat(weights))
    assert maps.shape == (len(model.blocks), 4, 9, 9)
    torch.testing.assert_close(maps.sum(-1), torch.ones(maps.shape[:-1]))
