import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.models.attention_steps import attention_steps


@pytest.mark.parametrize("num_tokens", [1, 2, 17])
def test_the_steps_end_where_torchs_kernel_does(num_tokens):
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 4, num_tokens, 8)
    steps = attention_steps(q, k, v)
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(steps.mixed, expected, atol=1e-6, rtol=0)
    given = F.scaled_dot_product_attention(q, k, v, attn_mask=steps.keep)
    torch.testing.assert_close(steps.mixed, given, atol=1e-6, rtol=0)


def test_rows_of_attention_sum_to_one_and_give_the_future_nothing():
    torch.manual_seed(0)
    q, k, v = 20 * torch.randn(3, 1, 4, 17, 8)
    steps = attention_steps(q, k, v)
    torch.testing.assert_close(steps.weights.sum(-1), torch.ones(1, 4, 17))
    assert torch.equal(steps.weights.triu(1), torch.zeros(1, 4, 17, 17))
    assert torch.isinf(steps.masked).sum() == 4 * 17 * 16 // 2


def test_products_of_unit_vectors_spread_by_the_root_of_the_width_and_scores_do_not():
    torch.manual_seed(0)
    for width in (4, 64, 256):
        q, k = torch.randn(2, 1, 1, 200, width)
        steps = attention_steps(q, k, k)
        assert (q @ k.mT).std().item() == pytest.approx(width**0.5, rel=0.1), width
        assert steps.scores.std().item() == pytest.approx(1, rel=0.1), width
