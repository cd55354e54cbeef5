"""The checkpoints of a run as files: which there are, which is best, which may go."""

import json
import re
from pathlib import Path
from typing import Final

from core.train.disk import to_json, write_atomically

FOLDER: Final = "ckpt"
BEST_FILE: Final = "best.json"
KEPT: Final = 2
_FILE = re.compile(r"step-(\d{8})\.pt")


def checkpoint_path(directory: Path, step: int) -> Path:
    """Return where the checkpoint of a step belongs."""
    return directory / FOLDER / f"step-{step:08d}.pt"


def checkpoints(directory: Path) -> list[Path]:
    """Return the finished checkpoints of a run, oldest first."""
    folder = directory / FOLDER
    found = folder.iterdir() if folder.is_dir() else iter(())
    return sorted(path for path in found if _FILE.fullmatch(path.name))


def best_checkpoint(directory: Path) -> tuple[Path, float] | None:
    """Return the checkpoint with the lowest validation loss, and that loss in nats per token."""
    folder = directory / FOLDER
    try:
        best = json.loads((folder / BEST_FILE).read_text(encoding="utf-8"))
        name, loss = str(best["file"]), float(best["validation_loss"])
    except (OSError, ValueError, TypeError, KeyError):
        return None  # none yet, or damaged: the next evaluation makes a new one
    path = folder / name
    return (path, loss) if _FILE.fullmatch(name) and path.is_file() else None


def keep(directory: Path, newest: Path, validation_loss: float | None) -> None:
    """Note whether `newest` is the best so far, and delete all but the best and the newest two.

    Raises:
        RunStorageError: the note cannot be written; nothing is deleted then.
    """
    best = best_checkpoint(directory)
    if validation_loss is not None and (best is None or validation_loss < best[1]):
        note = {"file": newest.name, "validation_loss": validation_loss}
        write_atomically(newest.with_name(BEST_FILE), to_json(note))
        best = (newest, validation_loss)
    spared = {best[0]} if best else set()
    for old in checkpoints(directory)[:-KEPT]:
        if old not in spared:
            old.unlink(missing_ok=True)
