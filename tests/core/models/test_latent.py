from dataclasses import replace

import pytest
import torch

from core.models.kernels import KERNELS
from core.models.latent import LatentMixer
from core.models.llama import rotary_angles
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
