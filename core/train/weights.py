"""One matrix out of a run's newest checkpoint, read in a process of its own: torch stays outside.

python -m core.train.weights CHECKPOINT NAME     # writes the matrix to stdout as .npy
"""

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.language import N_, _
from core.train.checkpoint_folder import checkpoints
from core.train.child_answer import child_answer
from core.train.info import read_info
from core.train.listing import run_names

CHILD_SECONDS: Final = 120
# Key in an address -> (what it is, its name in the checkpoint; `last` is the number of the layer).
MATRICES: Final[Mapping[str, tuple[str, str]]] = {
    "tokens": (N_("token embedding"), "tokens.weight"),
    "qkv": (N_("attention of the first layer"), "blocks.0.attention.qkv.weight"),
    "up": (N_("feed-forward of the first layer"), "blocks.0.feed_forward.up.weight"),
    "out": (N_("output of the last layer"), "blocks.{last}.feed_forward.out.weight"),
}


def runs_with_weights(directory: Path) -> tuple[str, ...]:
    """Return the names of the runs in `directory` that have a checkpoint, newest first."""
    return tuple(name for name in run_names(directory) if checkpoints(directory / name))


def newest_checkpoint(run: Path) -> Path:
    """Return the newest checkpoint of a run directory.

    Raises:
        ValueError: If the run has none yet.
    """
    found = checkpoints(run)
    if not found:
        raise ValueError(
            _("Run {run} has no checkpoint yet; wait for its first one.").format(run=run.name)
        )
    return found[-1]


def read_weight(run: Path, matrix: str) -> npt.NDArray[np.float64]:
    """Return a matrix of the newest checkpoint as (rows, columns); takes seconds.

    Args:
        run: The run directory.
        matrix: A key of `MATRICES`.

    Raises:
        ValueError: If the run has no checkpoint, or the child cannot read the matrix.
    """
    path = newest_checkpoint(run)
    last = int(read_info(run)["config"].get("num_layers", 1)) - 1
    arguments = [str(path), MATRICES[matrix][1].format(last=last)]
    written = child_answer(
        "core.train.weights",
        arguments,
        seconds=CHILD_SECONDS,
        too_late=_(
            "{file} was not read within {seconds} s; try again when the machine is free."
        ).format(file=path.name, seconds=CHILD_SECONDS),
        failed=lambda reason: _(
            "{file} cannot be read ({reason}); let the run write a new checkpoint."
        ).format(file=path.name, reason=reason),
    )
    weight: npt.NDArray[np.float64] = np.load(io.BytesIO(written), allow_pickle=False)
    return weight


def _write(path: str, name: str) -> None:
    import torch

    file = io.BytesIO()
    try:
        # weights_only: a pickle that wants to run code is refused
        contents: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        np.save(file, contents["model"][name].double().numpy(), allow_pickle=False)
    except Exception as error:
        raise SystemExit(type(error).__name__) from error  # torch's own text is a page long
    sys.stdout.buffer.write(file.getvalue())


if __name__ == "__main__":
    _write(*sys.argv[1:])
