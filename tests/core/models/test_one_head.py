import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.models.one_head import one_head
from core.models.walk import walk
from tests.core.models.small_models import small_model, some_ids


@pytest.fixture
def stages():
    return walk(small_model("gpt"), some_ids(9))


def test_a_head_is_what_torchs_kernel_makes_of_its_q_k_and_v(stages):
    for head in range(4):
        one = one_head(stages, 1, head)
        q, k, v = one.q[None], one.k[None], one.v[None]
        expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)[0]
        torch.testing.assert_close(one.mixed, expected, atol=1e-6, rtol=1e-5)
        first, end = one.columns
        torch.testing.assert_close(one.merged[:, first:end], expected, atol=1e-6, rtol=1e-5)
        assert one.largest_gap < 1e-5


def test_the_token_that_is_looked_at_has_the_largest_weight(stages):
    one = one_head(stages, 0, 2)
    assert one.looks_at(0) == (0, one.scores[0, 0].item(), 1.0)
    best, score, weight = one.looks_at(6)
    assert weight == one.weights[6].max().item() == one.weights[6, best].item()
    assert score == one.scores[6, best].item()


def test_scaling_divides_the_spread_by_the_root_and_softens_the_peak(stages):
    one = one_head(stages, 1, 3)
    scaling = one.scaling()
    assert scaling.head_dim == 6
    assert scaling.product_std / scaling.score_std == pytest.approx(6**0.5, rel=1e-4)
    assert scaling.product_peak > scaling.score_peak
    seen = one.scores[torch.ones(9, 9).tril().bool()]
    assert scaling.score_std == pytest.approx(seen.numpy().std(), rel=1e-4)


def test_a_single_token_sees_itself_alone():
    one = one_head(walk(small_model("gpt"), [3]), 0, 0)
    assert one.looks_at(0)[0] == 0
    assert one.scaling().score_peak == 1
    assert one.scaling().score_std == 0
