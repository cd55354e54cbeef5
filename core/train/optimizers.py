"""AdamW, and how its learning rate moves over a run."""

import math
from typing import TYPE_CHECKING

from core.train.config import TrainConfig

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer


def scheduled_learning_rate(config: TrainConfig, step: int) -> float:
    """Return the learning rate of a step (from 1): linear warm-up, then half a cosine.

    Source: Loshchilov & Hutter 2017, SGDR, equation 5, with one cycle.
    """
    if step <= config.warmup_steps:
        return config.learning_rate * step / (config.warmup_steps + 1)
    after_warmup = max(config.num_steps - config.warmup_steps, 1)
    progress = min((step - config.warmup_steps) / after_warmup, 1.0)
    height = (1 + math.cos(math.pi * progress)) / 2
    return config.min_learning_rate + (config.learning_rate - config.min_learning_rate) * height


def make_adamw(model: "nn.Module", config: TrainConfig) -> "Optimizer":
    """Return AdamW; weight decay is for matrices, not for the gains of the norms."""
    from torch.optim import AdamW

    parameters = [weight for weight in model.parameters() if weight.requires_grad]
    groups = [
        {"params": [w for w in parameters if w.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [w for w in parameters if w.dim() < 2], "weight_decay": 0.0},
    ]
    return AdamW(groups, lr=config.learning_rate, betas=(config.beta1, config.beta2), fused=True)
