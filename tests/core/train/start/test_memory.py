"""The predicted peak and categories of a step, against what its tensors really held on a CPU."""

from itertools import product

import numpy as np
import pytest
import torch

from core.train.config import OPTIMIZERS, TrainConfig
from core.train.learning.memory_watch import MemoryWatch
from core.train.learning.trainer import Trainer
from core.train.start.plan import bytes_of

NUM_TOKENS = 6000
# activations outweigh all; weights outweigh all; many logits
SHAPES = (
    {"hidden_dim": 64, "num_layers": 2, "num_heads": 4, "seq_len": 64, "batch_size": 16},
    {"hidden_dim": 192, "num_layers": 3, "num_heads": 4, "seq_len": 32, "batch_size": 2},
    {"hidden_dim": 96, "num_layers": 4, "num_heads": 4, "seq_len": 64, "batch_size": 8},
)
VOCABULARIES = (65, 65, 512)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def watched(config, vocab_size):
    """Return the bytes of the second step: then the optimizer has its states."""
    ids = np.random.default_rng(0).integers(0, vocab_size, NUM_TOKENS // 2).astype(np.uint16)
    trainer = Trainer(config, ids, ids, vocab_size, torch.device("cpu"))
    trainer.train_step()
    held = (trainer.training, trainer.validation)
    watch = MemoryWatch(trainer.model, trainer.optimizer, held)
    trainer.train_step(watch)
    return watch.result


@pytest.mark.parametrize("family", ["gpt", "llama"])
@pytest.mark.parametrize("precision", ["fp32", "bf16", "bf16_fp32_attention", "pure_bf16"])
def test_the_peak_is_predicted_within_2_percent_and_the_categories_to_the_byte(family, precision):
    torch_rows = product(("adamw", "sgd", "muon"), (False, True), range(len(SHAPES)))
    for optimizer, checkpointing, place in torch_rows:
        row = {"family": family, "precision": precision, "optimizer": optimizer}
        row |= {"checkpointing": checkpointing, "num_kv_heads": 2, "device": "cpu"}
        config, vocab_size = TrainConfig.from_json({**row, **SHAPES[place]}), VOCABULARIES[place]
        measured = watched(config, vocab_size)
        held, peak = bytes_of(config, vocab_size, "fp32", NUM_TOKENS)
        assert peak.num_bytes == pytest.approx(measured.peak, rel=0.02), (row, SHAPES[place])
        for part in held.children:
            assert getattr(measured, part.name) == part.num_bytes, (part.name, row)


@pytest.mark.parametrize("precision", ["fp32", "fp16", "pure_fp16"])
def test_every_optimizer_and_dropout_hold_the_bytes_that_are_predicted(precision):
    for optimizer, family in product(OPTIMIZERS, ("gpt", "llama")):
        row = {"family": family, "precision": precision, "optimizer": optimizer, "dropout": 0.1}
        config = TrainConfig.from_json({**row, **SHAPES[1], "device": "cpu"})
        measured = watched(config, 65)
        for part in bytes_of(config, 65, "fp32")[0].children:
            assert getattr(measured, part.name) == part.num_bytes, (part.name, row)
