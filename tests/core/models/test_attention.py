from dataclasses import replace

import pytest
import torch

from core.models.attention import LatentMixer, rotary_angles, rotate
from core.models.build import build_model
from core.models.kernels import KERNELS
from core.models.spec import LatentAttention
from tests.core.budget.simulation.test_prepared import LLAMA

LATENT = LatentAttention(query_rank=0, kv_rank=16, nope_dim=8, rope_dim=4, value_dim=8)


def test_latent_attention_is_causal_with_or_without_narrow_queries():
    torch.manual_seed(0)
    for query_rank in (0, 12):
        spec = replace(LLAMA, latent=replace(LATENT, query_rank=query_rank))
        layer = LatentMixer(spec, KERNELS["cpu"])
        x = torch.randn(1, 6, spec.hidden_dim)
        changed = torch.cat((x[:, :-1], torch.randn(1, 1, spec.hidden_dim)), 1)
        rotary = rotary_angles(6, 4, x)
        first, second = layer(x, rotary), layer(changed, rotary)
        torch.testing.assert_close(first[:, :-1], second[:, :-1])
        assert layer(x, None).shape == x.shape


def test_a_spec_without_latent_attention_is_refused():
    with pytest.raises(ValueError, match="tiny Llama has no latent attention"):
        LatentMixer(LLAMA, KERNELS["cpu"])


def test_rotation_keeps_lengths_and_products_depend_on_distance_alone():
    torch.manual_seed(0)
    q, k = torch.randn(8), torch.randn(8)
    rotary = rotary_angles(20, 8, q)
    turned_q, turned_k = (rotate(x.expand(1, 1, 20, 8), rotary)[0, 0] for x in (q, k))
    torch.testing.assert_close(turned_q.norm(dim=-1), q.norm().expand(20))
    torch.testing.assert_close(turned_q[7] @ turned_k[4], turned_q[13] @ turned_k[10])
    torch.testing.assert_close(turned_q[0], q)


def test_an_odd_width_cannot_be_rotated():
    with pytest.raises(ValueError, match="turn channels in pairs, and 7 is odd; choose 8"):
        rotary_angles(4, 7, torch.zeros(1))
    spec = replace(LLAMA, head_dim=5)
    with pytest.raises(ValueError, match="5 is odd"):
        build_model(spec, "cpu", device="cpu").logits(torch.tensor([[1, 2]]))
