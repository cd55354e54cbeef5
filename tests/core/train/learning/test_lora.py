"""What learns under LoRA, and what that holds in memory, counted and watched."""

from dataclasses import replace

import numpy as np
import torch

from core.train.config import OPTIMIZERS, TrainConfig
from core.train.learning.lora import adapter_bytes, count_adapters
from core.train.learning.memory_watch import MemoryWatch
from core.train.learning.trainer import Trainer

IDS = np.random.default_rng(0).integers(0, 30, 4000).astype(np.uint16)
SMALL = TrainConfig(num_layers=2, hidden_dim=16, num_heads=2, seq_len=16, batch_size=2, lora_rank=2)


def test_the_bytes_that_adapters_hold_are_those_that_are_watched_for_every_optimizer():
    torch.set_num_threads(1)
    for optimizer in OPTIMIZERS:
        for precision in ("fp32", "pure_bf16"):
            config = replace(SMALL, optimizer=optimizer, precision=precision)
            trainer = Trainer(config, IDS, IDS, 30, torch.device("cpu"))
            trainer.train_step()
            watch = MemoryWatch(trainer.model, trainer.optimizer)
            trainer.train_step(watch)
            frozen = [each for each in trainer.model.parameters() if not each.requires_grad]
            weights = sum(each.numel() * each.element_size() for each in frozen)
            predicted = adapter_bytes(config, weights)
            watched = {name: getattr(watch.result, name) for name in predicted}
            assert predicted == watched, (optimizer, precision)
            learning = [each for each in trainer.model.parameters() if each.requires_grad]
            assert sum(each.numel() for each in learning) == count_adapters(config).amount


def test_without_adapters_nothing_is_counted_otherwise():
    assert adapter_bytes(replace(SMALL, lora_rank=0), 1000) == {}
