"""The optimizers of a run: torch's own classes, a row each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import nn
from torch.optim import SGD, Adagrad, Adam, AdamW, Muon, Optimizer, RMSprop

from core.train.config import TrainConfig

Groups = list[dict[str, Any]]
Rate = float | torch.Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One optimizer.

    Attributes:
        make: From groups of weights, the rate and the config.
        halts_itself: Whether its fused CUDA kernel leaves the weights alone where `found_inf` is 1,
            so that nobody has to read a step's numbers before the next.
    """

    make: Callable[[Groups, Rate, TrainConfig], Optimizer]
    halts_itself: bool = False


def _betas(config: TrainConfig) -> tuple[float, float]:
    return config.beta1, config.beta2


def _adamw(groups: Groups, rate: Rate, config: TrainConfig) -> Optimizer:
    # In float16 as torch does it by default: the fused kernel computes in float32 and hides what
    # becomes of eps and the moments.
    is_fused = config.precision != "pure_fp16"
    return AdamW(groups, lr=rate, betas=_betas(config), eps=config.eps, fused=is_fused)


def _adam(groups: Groups, rate: Rate, config: TrainConfig) -> Optimizer:
    return Adam(groups, lr=rate, betas=_betas(config), eps=config.eps, fused=True)


class MuonAndAdamW(Optimizer):
    """Muon for the matrices of the blocks, AdamW for all else, behind one list of groups.

    Both keep their states in one dictionary, so that a checkpoint holds them as any optimizer's.
    Muon's update is scaled to the size of AdamW's, so that one learning rate serves both.

    Source: Jordan et al. 2024, Muon; Liu et al. 2025, Muon is Scalable for LLM Training, eq. 4.
    """

    def __init__(self, groups: Groups, rate: Rate, config: TrainConfig) -> None:
        super().__init__(groups, {"lr": rate})
        in_blocks = [group for group in self.param_groups if group["in_blocks"]]
        others = [group for group in self.param_groups if not group["in_blocks"]]
        self._muon = Muon(
            in_blocks, lr=float(rate), momentum=config.beta1, adjust_lr_fn="match_rms_adamw"
        )
        self._adamw = AdamW(others, lr=rate, betas=_betas(config), eps=config.eps, fused=True)
        self._share()

    def _share(self) -> None:
        """Let both halves work on these very groups and states."""
        halves = (self._muon, True), (self._adamw, False)
        for half, in_blocks in halves:
            for mine, theirs in zip(
                [group for group in self.param_groups if group["in_blocks"] is in_blocks],
                half.param_groups,
                strict=True,
            ):
                mine.update({name: value for name, value in theirs.items() if name not in mine})
            half.param_groups = [g for g in self.param_groups if g["in_blocks"] is in_blocks]
            half.state = self.state

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every weight that has a gradient."""
        self._muon.step(closure)
        self._adamw.step(closure)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: the halves too, which share groups and states with it."""
        return vars(self).copy()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take on what `state_dict` gave."""
        super().load_state_dict(state_dict)
        self._share()


OPTIMIZERS: Final[Mapping[str, Row]] = {
    "adamw": Row(make=_adamw, halts_itself=True),
    "adam": Row(make=_adam, halts_itself=True),
    "sgd": Row(make=lambda groups, rate, _it: SGD(groups, lr=rate)),
    "momentum": Row(make=lambda groups, rate, it: SGD(groups, lr=rate, momentum=it.beta1)),
    "rmsprop": Row(make=lambda groups, rate, it: RMSprop(groups, rate, it.beta2, it.eps)),
    "adagrad": Row(make=lambda groups, rate, it: Adagrad(groups, lr=rate, eps=it.eps)),
    "muon": Row(make=MuonAndAdamW),
}


def make_optimizer(
    model: nn.Module, config: TrainConfig, *, rate_on: torch.device | None = None
) -> Optimizer:
    """Return the optimizer of a config; weight decay is for matrices, not for gains of norms.

    `rate_on`: keep the learning rate there, as a tensor: a new rate is written in its turn,
        behind the steps already launched, and nobody waits. None for a plain number.
    """
    rate = config.learning_rate
    held = rate if rate_on is None else torch.tensor(rate, dtype=torch.float32, device=rate_on)
    return OPTIMIZERS[config.optimizer].make(_groups(model, config), held, config)


def _groups(model: nn.Module, config: TrainConfig) -> Groups:
    trained = [(name, each) for name, each in model.named_parameters() if each.requires_grad]
    matrices = [(name, each) for name, each in trained if each.dim() >= 2]
    others = [each for _name, each in trained if each.dim() < 2]
    decay = config.weight_decay
    if config.optimizer != "muon":
        decaying = [each for _name, each in matrices]
        return [
            {"params": decaying, "weight_decay": decay},
            {"params": others, "weight_decay": 0.0},
        ]
    inside = [each for name, each in matrices if name.startswith("blocks.")]
    outside = [each for name, each in matrices if not name.startswith("blocks.")]
    return [
        {"params": inside, "weight_decay": decay, "in_blocks": True},
        {"params": outside, "weight_decay": decay, "in_blocks": False},
        {"params": others, "weight_decay": 0.0, "in_blocks": False},
    ]
