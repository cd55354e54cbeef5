"""The graph of one step of a run's own model, captured in a separate process.

python -m core.train.learning.step_graph RUN_DIRECTORY [STEP]   # a capture, to stdout as JSON

STEP is that of a checkpoint, without it the newest. What is captured is the first forward and
backward pass of the step that comes next, in float32 on the CPU.
"""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.autograd.graph import Capture, from_json, to_json
from core.language import _
from core.train.child import child_answer
from core.train.config import TrainConfig
from core.train.learning.tensors import (
    MAX_SEQUENCES,
    load_trained,
    newest_checkpoint,
    next_batch,
    refuse_other_families,
)
from core.train.run.directory import checkpoint_path, read_info
from core.train.text.dataset import load_dataset

if TYPE_CHECKING:
    from core.autograd.built_graphs import Made

STEP_SECONDS: Final = 120
_NUM_VALUES: Final = 64  # of one tensor: of large ones, statistics say more


def graph_of_step(run: Path, step: int | None = None) -> Capture:
    """Return the graph of a step of a run's own model; takes seconds.

    `step`: of the checkpoint that is loaded; None for the newest.

    Raises:
        ValueError: If the run has no checkpoint, its model is too large, or the child fails.
    """
    newest_checkpoint(run)  # says so at once if there is none
    sequences_that_fit(run)
    written = child_answer(
        "core.train.learning.step_graph",
        [str(run), *([] if step is None else [str(step)])],
        seconds=STEP_SECONDS,
        too_late=_("No graph came within {seconds} s; try again when the machine is free.").format(
            seconds=STEP_SECONDS
        ),
        failed=_("The step could not be captured: {reason}").format,
    )
    return from_json(written.decode())


def sequences_that_fit(run: Path) -> int:
    """Return how many sequences of the run's batch one capture can take: all, a half, a quarter...

    Raises:
        ValueError: If not even one fits, or the run's text cannot be read.
    """
    from core.autograd.built_graphs import check_memory

    config = TrainConfig.from_json(read_info(run)["config"])
    refuse_other_families(config.family)
    try:
        vocab_size = load_dataset(run / "data").tokenizer.vocab_size
    except (OSError, ValueError, KeyError) as error:
        message = _("The text of run {run} cannot be read ({reason}); train a new run.")
        raise ValueError(message.format(run=run.name, reason=type(error).__name__)) from error
    count = min(config.batch_size, MAX_SEQUENCES)
    while True:
        try:
            check_memory(partial(_without_data, config, vocab_size, count))
        except ValueError:
            if count == 1:
                raise
            count //= 2
        else:
            return count


def _without_data(config: TrainConfig, vocab_size: int, count: int) -> "Made":
    """Return the model and a batch as `check_memory` asks for them: on meta."""
    import torch

    from core.autograd.built_graphs import Made
    from core.models.gpt import GPT

    ids = torch.zeros(count, config.seq_len, dtype=torch.long)  # (B, T)
    model = GPT(config.shape(vocab_size))
    return Made(function=model, leaves={"token_ids": ids, "targets": ids}, module=model)


def capture_here(run: Path, step: int | None = None) -> Capture:
    """Capture the step in this process; it imports torch. Arguments as of `graph_of_step`."""
    from core.autograd.capture import capture
    from core.autograd.forward import Limits

    path = newest_checkpoint(run) if step is None else checkpoint_path(run, step)
    count = sequences_that_fit(run)
    trained = load_trained(run, path)
    token_ids, targets = next_batch(trained.config, trained.dataset, trained.step + 1, count)
    return capture(
        trained.model,
        {"token_ids": token_ids, "targets": targets},
        trained.model,
        limits=Limits(num_values=_NUM_VALUES, seconds=STEP_SECONDS),  # who asks ends it before
    )


def main(run: str, step: str | None = None) -> None:
    """Write the capture to stdout."""
    try:
        found = capture_here(Path(run), None if step is None else int(step))
    except ValueError as error:  # a sentence of ours
        raise SystemExit(str(error)) from error
    except Exception as error:
        raise SystemExit(type(error).__name__) from error  # torch's own text is a page long
    sys.stdout.buffer.write(to_json(found).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
