"""AdamW, and how its learning rate moves over a run."""

import math
from typing import TYPE_CHECKING

from core.train.config import TrainConfig

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
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


def make_adamw(
    model: "nn.Module", config: TrainConfig, *, rate_on: "torch.device | None" = None
) -> "Optimizer":
    """Return AdamW; weight decay is for matrices, not for the gains of the norms.

    Args:
        model: What it updates.
        config: Its settings.
        rate_on: Keep the learning rate there, as a tensor: a step already launched, or captured
            in a graph, then reads the new rate. None for a plain number.
    """
    import torch
    from torch.optim import AdamW

    parameters = [weight for weight in model.parameters() if weight.requires_grad]
    groups = [
        {"params": [w for w in parameters if w.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [w for w in parameters if w.dim() < 2], "weight_decay": 0.0},
    ]
    rate = config.learning_rate
    held = rate if rate_on is None else torch.tensor(rate, dtype=torch.float32, device=rate_on)
    return AdamW(groups, lr=held, betas=(config.beta1, config.beta2), fused=True)


def set_learning_rate(optimizer: "Optimizer", rate: float) -> None:
    """Use a learning rate from the next step on; a rate kept as a tensor is filled in place."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], float):
            group["lr"] = rate
        else:
            group["lr"].fill_(rate)


def skip_if(optimizer: "Optimizer", flag: "Tensor") -> None:
    """Let fused AdamW leave the weights alone while `flag` (a float on the device) is 1.

    The same switch as torch.amp.GradScaler turns; nobody waits for the device to read it.
    """
    optimizer.found_inf = flag  # type: ignore[attr-defined]
