"""Embeddings and positions, against torch's own modules and closed forms."""

import math

import numpy as np
import pytest
import torch

from core.models.first_loss import make_fresh
from core.models.lookup import MAX_ROWS, cosines, look_up, random_cosines, turn
from core.models.spec import GPTShape

SHAPE = GPTShape(num_layers=1, hidden_dim=32, num_heads=4, vocab_size=50, seq_len=16)
IDS = (3, 49, 0, 3)


def test_what_the_first_block_reads_is_the_sum_of_two_rows():
    model = make_fresh(SHAPE)
    seen = []
    model.blocks[0].register_forward_pre_hook(lambda _block, given: seen.append(given[0]))
    with torch.no_grad():
        model.logits(torch.tensor([IDS]))
    for at in range(len(IDS)):
        looked = look_up(model, IDS, at)
        assert looked.same_bits
        assert np.array_equal(looked.total, seen[0][0, at].numpy()), at
        assert np.array_equal(looked.token, model.tokens(torch.tensor(IDS[at])).detach().numpy())
    assert np.array_equal(look_up(model, IDS, 0).token, look_up(model, IDS, 3).token)
    assert not np.array_equal(look_up(model, IDS, 0).total, look_up(model, IDS, 3).total)


def test_a_table_that_is_not_finite_is_not_said_to_equal_the_product():
    model = make_fresh(SHAPE)
    with torch.no_grad():
        model.tokens.weight[7, 0] = math.inf  # one-hot rows multiply it by 0
    assert not look_up(model, IDS, 0).same_bits


@pytest.mark.parametrize("width", [8, 64, 4096])
def test_cosines_of_random_rows_spread_by_one_over_the_root_of_the_width(width):
    found = random_cosines(width)
    assert found.values.size == MAX_ROWS * (MAX_ROWS - 1) / 2
    assert found.expected_std == 1 / math.sqrt(width)
    assert found.std == pytest.approx(found.expected_std, rel=0.05)
    assert abs(found.mean) < 0.05 * found.expected_std + 0.001


def test_cosines_are_torchs_own():
    table = torch.randn(5, 7, generator=torch.Generator().manual_seed(1))
    own = [
        torch.cosine_similarity(table[i], table[j], dim=0).item()
        for i in range(5)
        for j in range(i + 1, 5)
    ]
    assert cosines(table).values.tolist() == pytest.approx(own, abs=1e-6)


@pytest.mark.parametrize(("width", "position"), [(2, 0), (8, 3), (16, 63)])
def test_each_pair_is_a_complex_number_times_a_phase(width, position):
    turned = turn(width, position)
    for pair in range(width // 2):
        angle = position / 10_000 ** (2 * pair / width)
        assert turned.angles[pair] == pytest.approx(angle)
        assert complex(*turned.pairs[pair]) == pytest.approx(
            complex(math.cos(angle), math.sin(angle)), abs=1e-5
        )


def test_a_product_depends_on_the_distance_alone():
    moved, still = turn(8, 40), turn(8, 0)
    assert moved.products.shape == (16,)
    np.testing.assert_allclose(moved.products, still.products, atol=1e-4)
    np.testing.assert_allclose(moved.products_at_0, still.products, atol=1e-12)
    distance = np.arange(16)[:, None]
    closed = np.cos(distance * 10_000.0 ** (-np.arange(0, 8, 2) / 8)).sum(1)
    np.testing.assert_allclose(still.products, closed, atol=1e-5)


@pytest.mark.parametrize(
    ("width", "fix"), [(7, "6 or 8"), (1, "2 or 4"), (0, "2 or 4"), (15, "14 or 16")]
)
def test_an_odd_width_is_refused_with_the_widths_beside_it(width, fix):
    with pytest.raises(ValueError, match=rf"head width is {width}: .*Choose {fix}\."):
        turn(width, 3)
