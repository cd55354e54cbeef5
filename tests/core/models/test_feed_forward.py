import torch
from torch.nn import functional as F  # noqa: N812

from core.models.feed_forward import MixtureOfExperts
from core.models.kernels import KERNELS
from core.models.spec import Mixture


def test_a_balanced_router_gives_the_weighted_sum_of_the_picked_experts():
    torch.manual_seed(0)
    mixture = Mixture(num_experts=4, experts_per_token=1, expert_dim=6, num_shared=1)
    layer = MixtureOfExperts(8, mixture, KERNELS["cpu"])
    with torch.no_grad():  # token i goes to expert i % 4
        layer.router.weight.copy_(torch.eye(4, 8))
    x = 3 * torch.eye(4, 8).repeat(3, 1).unsqueeze(0)  # (1, 12, 8)
    for token, got in zip(x[0], layer(x)[0], strict=True):
        expert = int(token.argmax())
        inner = F.silu(token @ layer.gate[expert]) * (token @ layer.up[expert])
        weight = layer.router(token).softmax(-1)[expert]
        expected = weight * (inner @ layer.down[expert]) + layer.shared(token)
        torch.testing.assert_close(got, expected)


def test_tokens_that_do_not_divide_evenly_still_come_back():
    mixture = Mixture(num_experts=4, experts_per_token=2, expert_dim=6)
    layer = MixtureOfExperts(8, mixture, KERNELS["cpu"])
    assert layer(torch.randn(1, 7, 8)).shape == (1, 7, 8)
