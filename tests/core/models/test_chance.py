"""Random numbers that come again: one thread at a time, whoever draws."""

from concurrent.futures import ThreadPoolExecutor

import torch

from core.models.chance import alone_with_chance
from core.models.first_loss import make_fresh
from core.models.initialisation import product_spread
from core.models.layer_zoo import visit
from core.models.small import first_weight
from core.models.spec import GPTShape

SHAPE = GPTShape(num_layers=1, hidden_dim=16, num_heads=2, vocab_size=32, seq_len=8)


def test_torchs_own_state_is_given_back():
    torch.manual_seed(7)
    wanted = torch.randn(3)
    torch.manual_seed(7)
    with alone_with_chance(1):
        torch.randn(5)
    assert torch.equal(torch.randn(3), wanted)


def test_who_draws_inside_of_a_draw_does_not_change_the_rest_of_it():
    with alone_with_chance(1):
        wanted = torch.randn(4)
    with alone_with_chance(1):
        first = torch.randn(2)
        with alone_with_chance(2):
            torch.randn(9)
        assert torch.equal(torch.cat([first, torch.randn(2)]), wanted)


def test_threads_of_different_rooms_that_draw_at_once_get_their_own_numbers():
    draws = (
        lambda: first_weight("mlp"),
        lambda: visit("Dropout", 4).train_std,
        lambda: product_spread(64)["unit"],
        lambda: float(make_fresh(SHAPE).head.weight.detach().sum()),
    )
    wanted = [draw() for draw in draws]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda turn: draws[turn % len(draws)](), range(120)))
    for turn, value in enumerate(found):
        assert abs(value - wanted[turn % len(draws)]) < 1e-5, turn
