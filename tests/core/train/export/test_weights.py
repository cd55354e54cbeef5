"""The weights of a run in a file that any program reads."""

import json

import torch
from safetensors import safe_open

from core.train.config import TrainConfig
from core.train.export.weights import write_safetensors
from core.train.learning.trainer import Trainer
from core.train.text.dataset import build_dataset, save_dataset
from core.train.worker.checkpoint import save_checkpoint

TEXT = b"the quick brown fox jumps over the lazy dog. " * 60
SETTINGS = {"corpus": "upload", "precision": "fp32", "num_layers": 1, "hidden_dim": 16}


def saved(directory, **changes):
    config = TrainConfig.from_json(SETTINGS | changes)
    dataset = build_dataset(config, TEXT)
    vocab_size, cpu = dataset.tokenizer.vocab_size, torch.device("cpu")
    trainer = Trainer(config, dataset.training_tokens, dataset.validation_tokens, vocab_size, cpu)
    trainer.train_step()
    save_dataset(dataset, directory / "data")
    return save_checkpoint(directory, trainer)[0], trainer.model.state_dict()


def test_the_file_holds_every_weight_once_and_says_what_it_is(tmp_path):
    for family in ("gpt", "llama"):
        checkpoint, weights = saved(tmp_path / family, family=family)
        target = tmp_path / "model.safetensors"
        assert write_safetensors(tmp_path / family, checkpoint, target) == target.stat().st_size
        with safe_open(target, "pt") as file:
            told = file.metadata()
            assert set(file.keys()) == weights.keys() - {"head.weight"}
            assert all(
                torch.equal(file.get_tensor(name), weights[name]) for name in set(file.keys())
            )
        assert (told["step"], told["tied"]) == ("1", "head.weight = tokens.weight")
        assert json.loads(told["config"])["family"] == family
        assert "q" in json.loads(told["vocabulary"])["characters"]


def test_adapters_are_added_to_the_matrices(tmp_path):
    checkpoint, weights = saved(tmp_path, lora_rank=2)
    write_safetensors(tmp_path, checkpoint, tmp_path / "model.safetensors")
    with safe_open(tmp_path / "model.safetensors", "pt") as file:
        assert not [name for name in set(file.keys()) if "lora" in name or "base" in name]
        layer = "blocks.0.attention.qkv"
        change = 2 * weights[f"{layer}.lora_b"] @ weights[f"{layer}.lora_a"]
        expected = weights[f"{layer}.base.weight"] + change
        assert torch.allclose(file.get_tensor(f"{layer}.weight"), expected)
