"""Each optimizer is torch's own; Muon takes the matrices of the blocks and AdamW the rest."""

import itertools

import pytest
import torch

from core.train.config import OPTIMIZERS as NAMES
from core.train.learning.optimizers import OPTIMIZERS


def test_every_name_that_a_config_knows_is_a_row():
    assert set(OPTIMIZERS) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_optimizer_learns_and_only_those_that_halt_themselves_go_in_bursts(
    make_trainer, name
):
    rate = 0.5 if name == "sgd" else 0.1 if name == "momentum" else 1e-2
    trainer = make_trainer(
        optimizer=name, learning_rate=rate, num_steps=60, schedule="constant", in_bursts=True
    )
    losses = [trainer.train_step().loss for _step in range(60)]
    assert losses[-1] < losses[0] - 0.3
    assert trainer.in_bursts == OPTIMIZERS[name].halts_itself


def test_muon_moves_the_matrices_of_blocks_and_adamw_all_else(make_trainer):
    trainer = make_trainer(optimizer="muon", learning_rate=2.0**-8, warmup_steps=0)
    names = {weight: name for name, weight in trainer.model.named_parameters()}
    with_momentum, with_moments = set(), set()
    trainer.train_step()
    for weight, state in trainer.optimizer.state.items():
        (with_momentum if "momentum_buffer" in state else with_moments).add(names[weight])
    assert with_momentum == {
        f"blocks.0.{part}.weight"
        for part in ("attention.qkv", "attention.out", "feed_forward.up", "feed_forward.out")
    }
    assert with_moments == set(names.values()) - with_momentum


def test_muons_matrices_move_as_torchs_muon_moves_them(make_trainer):
    trainer = make_trainer(optimizer="muon", warmup_steps=0, weight_decay=0.1, grad_clip=0.0)
    weight = trainer.model.get_parameter("blocks.0.feed_forward.up.weight")
    alone = torch.nn.Parameter(weight.detach().clone())
    muon = torch.optim.Muon([alone], weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    for group, _step in itertools.product(muon.param_groups, range(3)):
        result = trainer.train_step()
        group["lr"], group["momentum"] = result.learning_rate, trainer.config.beta1
        alone.grad = weight.grad.clone()
        muon.step()
        assert torch.equal(alone, weight)
