"""Checkpoints: written beside, then put in place at once; read without running their code."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from core.train.config import TrainConfig
from core.train.control.orders import Orders
from core.train.learning.trainer import Trainer
from core.train.run.directory import (
    CHECKPOINT_FORMAT,
    checkpoint_path,
    keep_checkpoint,
    milestone_path,
)
from core.train.run.disk import storage_error, sync_folder
from core.train.worker import faults


def save_checkpoint(
    directory: Path,
    trainer: Trainer,
    orders: Orders | None = None,
    validation_loss: float | None = None,
) -> tuple[Path, int]:
    """Write the trainer's state; return the file and its bytes.

    The old checkpoints stay until the new one is on the disk under its final name.

    `validation_loss`: of these very weights, if known: the best checkpoint is kept.

    Raises:
        RunStorageError: the disk refuses; the older checkpoints are as they were.
    """
    path = checkpoint_path(directory, trainer.step)
    _put_in_place(path, _contents(trainer, orders or Orders()))
    keep_checkpoint(directory, path, validation_loss)
    return path, path.stat().st_size


def save_milestone(directory: Path, trainer: Trainer) -> Path:
    """Write the trainer's weights alone, so that a reader can look back at this step."""
    path = milestone_path(directory, trainer.step)
    _put_in_place(path, _weights(trainer))
    return path


def _put_in_place(path: Path, contents: Mapping[str, Any]) -> None:
    """Write a file beside its place in a folder of the run, then move it there at once."""
    temporary = path.with_suffix(".tmp")
    try:
        path.parent.mkdir(exist_ok=True)
        with temporary.open("wb") as file:
            torch.save(contents, file)
            file.flush()
            faults.at("checkpoint_written")
            os.fsync(file.fileno())
        faults.at("checkpoint_synced")
        temporary.replace(path)
        faults.at("checkpoint_placed")
        sync_folder(path.parent)
        sync_folder(path.parent.parent)
    except (OSError, RuntimeError) as error:  # torch reports a full disk as RuntimeError
        temporary.unlink(missing_ok=True)
        reason = error if isinstance(error, OSError) else OSError(str(error))
        raise storage_error(path, reason) from error


def _weights(trainer: Trainer) -> dict[str, Any]:
    return {
        "format": CHECKPOINT_FORMAT,
        "step": trainer.step,
        "config": asdict(trainer.config),
        "model": trainer.weights(),
    }


def _contents(trainer: Trainer, orders: Orders) -> dict[str, Any]:
    return {
        **_weights(trainer),
        "trained_seconds": trainer.trained_seconds,
        "learning_rate_multiplier": trainer.learning_rate_multiplier,
        "orders": orders.to_json(),
        "optimizer": trainer.optimizer_state(),
        "scaler": trainer.scaler.state_dict() if trainer.scaler else None,
    }


def load_checkpoint(path: Path, trainer: Trainer) -> Orders:
    """Put a checkpoint's state into the trainer; return what commands had asked for.

    After an error the trainer may be half changed: start it again.

    Raises:
        ValueError: the file is damaged, is no checkpoint of this run, or holds code.
    """
    try:
        # weights_only: a pickle that wants to run code is refused
        contents = torch.load(path, map_location=trainer.device, weights_only=True)
        # An older checkpoint lacks the settings that were added since: from_json fills them in.
        its_config = TrainConfig.from_json(contents["config"])
        if contents["format"] != CHECKPOINT_FORMAT or its_config != trainer.config:
            raise ValueError("a checkpoint of another run or of another version of this app")  # noqa: TRY301
        trainer.model.load_state_dict(contents["model"])
        trainer.optimizer.load_state_dict(contents["optimizer"])
        if trainer.scaler:
            trainer.scaler.load_state_dict(contents["scaler"])
        trainer.step = int(contents["step"])
        trainer.trained_seconds = float(contents.get("trained_seconds", 0.0))
        trainer.learning_rate_multiplier = float(contents["learning_rate_multiplier"])
        return Orders.from_json(contents["orders"])
    except Exception as error:
        raise ValueError(
            f"{path.name} cannot be loaded ({type(error).__name__}); it is damaged or was made "
            "by another program. Delete it to go back to the checkpoint before it."
        ) from error
