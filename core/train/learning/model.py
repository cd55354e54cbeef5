"""The model of a config: our GPT or the Llama-like one, on its device, in its format."""

import torch

from core.models.gpt import GPT
from core.models.llama import Llama
from core.train.config import TrainConfig
from core.train.learning.precision import weight_dtype

Model = GPT | Llama


def make_model(config: TrainConfig, vocab_size: int, device: torch.device | str = "cpu") -> Model:
    """Return the model with fresh weights, drawn from torch's own generator in float32."""
    in_fp32 = config.precision == "bf16_fp32_attention"
    if config.family == "llama":
        model: Model = Llama(
            config.spec(vocab_size),
            attention_in_fp32=in_fp32,
            dropout=config.dropout,
            checkpointing=config.checkpointing,
        )
    else:
        model = GPT(
            config.shape(vocab_size),
            attention_in_fp32=in_fp32,
            dropout=config.dropout,
            checkpointing=config.checkpointing,
        )
    return model.to(device, weight_dtype(config.precision))
