"""The model of a config: our GPT or the Llama-like one, on its device, in its format."""

from typing import Any

import torch

from core.models.gpt import GPT
from core.models.llama import Llama
from core.train.config import TrainConfig
from core.train.learning.lora import add_adapters
from core.train.learning.mistakes import spoil_model
from core.train.learning.precision import weight_dtype

Model = GPT | Llama


def make_model(config: TrainConfig, vocab_size: int, device: torch.device | str = "cpu") -> Model:
    """Return the model with fresh weights, drawn from torch's own generator in float32.

    A mistake of a model that is asked for is made in it.
    """
    how: dict[str, Any] = {
        "attention_in_fp32": config.precision == "bf16_fp32_attention",
        "dropout": config.dropout,
        "checkpointing": config.checkpointing,
    }
    if config.family == "llama":
        model: Model = Llama(config.spec(vocab_size), **how)
    else:
        model = GPT(config.shape(vocab_size), **how)
    if config.lora_rank:
        add_adapters(model, config.lora_rank)
    model.to(device, weight_dtype(config.precision))
    spoil_model(model, config.mistake)
    return model
