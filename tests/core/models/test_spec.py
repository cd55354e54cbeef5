"""The architecture of a model: what is refused, and in which words."""

import pytest

from core.models import GPTShape
from core.models.spec import Indexer, LatentAttention, Mixture, ModelSpec

SIZES = {
    "name": "small",
    "num_layers": 4,
    "hidden_dim": 64,
    "num_heads": 8,
    "num_kv_heads": 2,
    "head_dim": 16,
    "ffn_dim": 256,
    "vocab_size": 1000,
    "seq_len": 128,
}
EXPERTS = {"num_experts": 8, "experts_per_token": 2, "expert_dim": 32}
INDEXER = Indexer(num_heads=4, head_dim=16, top_k=8)
LATENT = {"query_rank": 0, "kv_rank": 16, "nope_dim": 8, "rope_dim": 8, "value_dim": 8}


def spec(**changes):
    return ModelSpec(**(SIZES | changes))


def test_the_width_of_a_head_is_independent_of_the_residual_stream():
    assert spec(head_dim=256).head_dim == 256


@pytest.mark.parametrize("name", [name for name in SIZES if name != "name"])
@pytest.mark.parametrize("value", [0, -1, 10**8])
def test_a_size_that_cannot_be_is_named_with_its_range(name, value):
    said = f"{name} is {value}; it must lie between 1 and 20,000,000"
    with pytest.raises(ValueError, match=said):
        spec(**{name: value})


def test_key_heads_must_divide_query_heads():
    with pytest.raises(ValueError, match="num_kv_heads is 3, which does not divide num_heads 8"):
        spec(num_kv_heads=3)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"num_windowed_layers": 5}, "num_windowed_layers is 5; there are only 4"),
        ({"window": 0}, "window is 0; it must lie between 1"),
        ({"learned_positions": -1}, "learned_positions is -1; it must lie between 0"),
        ({"mixture": Mixture(**(EXPERTS | {"experts_per_token": 9}))}, "there are only 8"),
        ({"mixture": Mixture(**EXPERTS, num_dense_layers=5)}, "num_dense_layers is 5; there are"),
        ({"mixture": Mixture(**(EXPERTS | {"expert_dim": 0}))}, "expert_dim is 0"),
        ({"mixture": Mixture(**EXPERTS, num_shared=-1)}, "num_shared is -1"),
        ({"latent": LatentAttention(**(LATENT | {"kv_rank": 0}))}, "kv_rank is 0"),
        ({"latent": LatentAttention(**(LATENT | {"query_rank": -1}))}, "query_rank is -1"),
        ({"indexer": INDEXER}, "it needs a query_rank"),
        ({"indexer": INDEXER, "latent": LatentAttention(**LATENT)}, "it needs a query_rank"),
        ({"indexer": Indexer(num_heads=4, head_dim=16, top_k=0)}, "top_k is 0"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        spec(**changes)


def test_layers_with_experts_and_without_add_up():
    mixed = spec(mixture=Mixture(**EXPERTS, num_dense_layers=3))
    assert (mixed.num_dense_layers, mixed.num_expert_layers) == (3, 1)
    assert (spec().num_dense_layers, spec().num_expert_layers) == (4, 0)


def test_dense_layers_come_first_or_alternate_with_those_of_experts():
    for alternating, expected in ((False, [0, 0, 0, 1, 2]), (True, [0, 0, 1, 1, 2])):
        mixture = Mixture(**EXPERTS, num_dense_layers=2, alternating=alternating)
        mixed = spec(mixture=mixture)
        assert [mixed.expert_layers_before(index) for index in range(5)] == expected
    assert [spec().expert_layers_before(index) for index in range(5)] == [0] * 5


SHAPE = {"num_layers": 2, "hidden_dim": 64, "num_heads": 4, "vocab_size": 65, "seq_len": 32}


@pytest.mark.parametrize("name", sorted(SHAPE))
def test_a_size_below_one_is_refused_by_name(name):
    with pytest.raises(ValueError, match=f"{name} is 0; it must be at least 1"):
        GPTShape(**{**SHAPE, name: 0})


def test_heads_must_share_the_width_evenly():
    with pytest.raises(ValueError, match="hidden_dim 64 cannot be shared by 5 heads"):
        GPTShape(**{**SHAPE, "num_heads": 5})


def test_head_and_feed_forward_widths_follow_gpt2():
    shape = GPTShape(**SHAPE)
    assert (shape.head_dim, shape.ffn_dim) == (16, 256)
