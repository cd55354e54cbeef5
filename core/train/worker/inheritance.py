"""What a fork takes over: its parent's weights, and the optimizer's state if it is the same."""

from pathlib import Path
from typing import Any, Final

import torch

from core.train.config import TrainConfig
from core.train.learning.lora import named_for
from core.train.learning.trainer import Trainer
from core.train.run.directory import INFO_FILE, PARENT_FILE, read_info

_SAME_STATE: Final = ("optimizer", "lora_rank")  # else the optimizer begins anew


def begin_as_fork(directory: Path, trainer: Trainer) -> None:
    """Put the parent's checkpoint into a fresh trainer, if the run is a fork.

    Settings are the fork's own: its rates, betas and decay stay, whatever the parent's were.

    Raises:
        ValueError: The file is damaged, or of another model.
    """
    path = directory / PARENT_FILE
    if not path.exists():
        if (directory / INFO_FILE).exists() and read_info(directory).get("parent"):
            raise ValueError(
                f"{PARENT_FILE} is missing, from which this run begins; fork its parent again."
            )
        return
    try:
        contents = torch.load(path, map_location=trainer.device, weights_only=True)
        its = TrainConfig.from_json(contents["config"])
        trainer.model.load_state_dict(named_for(trainer.model.state_dict(), contents["model"]))
        if all(getattr(its, name) == getattr(trainer.config, name) for name in _SAME_STATE):
            _take_over(trainer.optimizer, contents["optimizer"])
        if trainer.scaler and contents["scaler"]:
            trainer.scaler.load_state_dict(contents["scaler"])
        trainer.step = int(contents["step"])
        trainer.trained_seconds = float(contents.get("trained_seconds", 0.0))
        if its.learning_rate == trainer.config.learning_rate:  # another one is meant as it is
            trainer.learning_rate_multiplier = float(contents["learning_rate_multiplier"])
    except Exception as error:
        raise ValueError(
            f"The checkpoint that this run was forked from cannot be used "
            f"({type(error).__name__}); fork again."
        ) from error


def _take_over(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    own = [
        {name: it for name, it in group.items() if name != "params"}
        for group in optimizer.param_groups
    ]
    optimizer.load_state_dict(state)
    for group, settings in zip(optimizer.param_groups, own, strict=True):
        group.update(settings)
