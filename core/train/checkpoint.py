"""Checkpoints: written beside, then put in place at once; read without running their code."""

import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch

from core.train.disk import storage_error
from core.train.trainer import Trainer

FOLDER: Final = "ckpt"
KEPT: Final = 2
_FILE = re.compile(r"step-(\d{8})\.pt")


def save_checkpoint(directory: Path, trainer: Trainer) -> tuple[Path, int]:
    """Write the trainer's state; return the file and its bytes.

    The old checkpoints stay until the new one is on the disk under its final name.

    Raises:
        RunStorageError: the disk refuses; the older checkpoints are as they were.
    """
    path = directory / FOLDER / f"step-{trainer.step:08d}.pt"
    temporary = path.with_suffix(".tmp")
    try:
        path.parent.mkdir(exist_ok=True)
        with temporary.open("wb") as file:
            torch.save(_contents(trainer), file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except (OSError, RuntimeError) as error:  # torch reports a full disk as RuntimeError
        temporary.unlink(missing_ok=True)
        reason = error if isinstance(error, OSError) else OSError(str(error))
        raise storage_error(path, reason) from error
    for old in checkpoints(directory)[:-KEPT]:
        old.unlink(missing_ok=True)
    return path, path.stat().st_size


def _contents(trainer: Trainer) -> dict[str, Any]:
    return {
        "step": trainer.step,
        "learning_rate_multiplier": trainer.learning_rate_multiplier,
        "config": asdict(trainer.config),
        "model": trainer.model.state_dict(),
        "optimizer": trainer.optimizer.state_dict(),
    }


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def checkpoints(directory: Path) -> list[Path]:
    """Return the finished checkpoints of a run, oldest first."""
    folder = directory / FOLDER
    found = folder.iterdir() if folder.is_dir() else iter(())
    return sorted(path for path in found if _FILE.fullmatch(path.name))


def load_checkpoint(path: Path, trainer: Trainer) -> None:
    """Put a checkpoint's state into the trainer.

    Raises:
        ValueError: the file is damaged, is no checkpoint of this model, or holds code.
    """
    try:
        # weights_only: a pickle that wants to run code is refused
        contents = torch.load(path, map_location=trainer.device, weights_only=True)
        trainer.model.load_state_dict(contents["model"])
        trainer.optimizer.load_state_dict(contents["optimizer"])
        trainer.step = int(contents["step"])
        trainer.learning_rate_multiplier = float(contents["learning_rate_multiplier"])
    except Exception as error:
        raise ValueError(
            f"{path.name} cannot be loaded ({type(error).__name__}); it is damaged or was made "
            "by another program. Delete it to go back to the checkpoint before it."
        ) from error
