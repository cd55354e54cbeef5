"""A fork begins with all that its parent was, whichever optimizer and precision."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.train.config import OPTIMIZERS, TrainConfig
from core.train.learning.trainer import Trainer
from core.train.run.directory import PARENT_FILE
from core.train.worker.checkpoint import save_checkpoint
from core.train.worker.inheritance import begin_as_fork

IDS = np.random.default_rng(0).integers(0, 30, 4000).astype(np.uint16)
SMALL = TrainConfig(
    precision="fp32", num_layers=1, hidden_dim=16, num_heads=2, seq_len=16, batch_size=2
)


def trainer_of(config):
    torch.set_num_threads(1)
    return Trainer(config, IDS, IDS, 30, torch.device("cpu"))


def test_a_fork_goes_on_as_its_parent_bit_for_bit_for_every_optimizer(tmp_path):
    kinds = itertools.cycle(({"dropout": 0.1}, {"precision": "fp16"}, {"precision": "pure_bf16"}))
    for optimizer, changes in zip(OPTIMIZERS, kinds, strict=False):
        config = replace(SMALL, optimizer=optimizer, **changes)
        parent, fork = trainer_of(config), trainer_of(config)
        for _step in range(3):
            parent.train_step()
        saved = save_checkpoint(tmp_path, parent)[0]
        (tmp_path / PARENT_FILE).write_bytes(saved.read_bytes())
        begin_as_fork(tmp_path, fork)
        pairs = [(parent.train_step(), fork.train_step()) for _step in range(3)]
        losses = [(one.step, one.loss, other.step, other.loss) for one, other in pairs]
        assert all(a == c and b == d for a, b, c, d in losses), (optimizer, changes)


def test_a_damaged_parent_ends_the_start_with_a_sentence(tmp_path):
    (tmp_path / PARENT_FILE).write_bytes(b"no checkpoint")
    with pytest.raises(ValueError, match="fork again"):
        begin_as_fork(tmp_path, trainer_of(SMALL))


def test_a_run_without_a_parent_begins_as_it_is(tmp_path):
    trainer = trainer_of(SMALL)
    begin_as_fork(tmp_path, trainer)
    assert trainer.step == 0
