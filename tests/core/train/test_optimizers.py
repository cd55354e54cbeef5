import math

import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR

from core.models import GPTShape
from core.models.gpt import GPT
from core.train.config import TrainConfig
from core.train.optimizers import make_adamw, scheduled_learning_rate

CONFIG = TrainConfig(
    num_steps=110, warmup_steps=10, learning_rate=1e-2, min_learning_rate=1e-3, weight_decay=0.3
)


def test_warm_up_climbs_in_equal_steps_to_the_highest_rate():
    rates = [scheduled_learning_rate(CONFIG, step) for step in range(1, 11)]
    assert rates == pytest.approx([1e-2 * step / 11 for step in range(1, 11)])


def test_the_cosine_is_torchs_own():
    weight = torch.nn.Parameter(torch.zeros(1))
    sgd = torch.optim.SGD([weight], lr=1e-2)
    oracle = CosineAnnealingLR(sgd, T_max=100, eta_min=1e-3)
    for step in range(10, 111):
        rate = scheduled_learning_rate(CONFIG, step) if step > 10 else 1e-2
        assert rate == pytest.approx(oracle.get_last_lr()[0], rel=1e-9), step
        sgd.step()
        oracle.step()


def test_the_rate_never_leaves_its_bounds_after_the_end():
    assert scheduled_learning_rate(CONFIG, 10**6) == CONFIG.min_learning_rate
    assert not math.isnan(scheduled_learning_rate(TrainConfig(num_steps=1, warmup_steps=5), 9))


def test_matrices_decay_and_gains_do_not():
    shape = GPTShape(num_layers=1, hidden_dim=8, num_heads=1, vocab_size=5, seq_len=8)
    model = GPT(shape)
    decaying, steady = make_adamw(model, CONFIG).param_groups
    assert decaying["weight_decay"] == 0.3
    assert all(weight.dim() == 2 for weight in decaying["params"])
    assert steady["weight_decay"] == 0.0
    assert all(weight.dim() == 1 for weight in steady["params"])
    grouped = len(decaying["params"]) + len(steady["params"])
    assert grouped == len(list(model.parameters()))
