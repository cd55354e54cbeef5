"""What a run scored on text that it does not learn from: its validation loss by step."""

import math
from dataclasses import dataclass
from pathlib import Path

from core.train.reader import RunReader
from core.train.shelf import read_label


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The validation loss of one run.

    Attributes:
        run: Name of its directory.
        title: What its reader called it, else the name in its config.
        steps: Optimizer steps at which it was evaluated, rising.
        losses: Validation loss there, in nats per token.
    """

    run: str
    title: str
    steps: tuple[int, ...]
    losses: tuple[float, ...]

    @property
    def best(self) -> tuple[int, float] | None:
        """The step of the lowest loss, and that loss; None before the first evaluation."""
        if not self.losses:
            return None
        loss = min(self.losses)
        return self.steps[self.losses.index(loss)], loss


def validation_curve(directory: Path) -> Curve:
    """Return the run's evaluations; of a step that a resume repeated, the newest one.

    Raises:
        ValueError: The directory holds no run that can be read.
    """
    reader = RunReader(directory)
    by_step: dict[int, float] = {}
    for event in reader.read_new().events:
        loss, step = event.get("validation_loss"), event.get("step")
        is_number = isinstance(loss, int | float) and math.isfinite(loss)
        if event["kind"] == "eval" and isinstance(step, int) and is_number:
            by_step[step] = float(event["validation_loss"])
    steps = tuple(sorted(by_step))
    title = read_label(directory).title or str(reader.info["config"].get("name", directory.name))
    return Curve(
        run=directory.name, title=title, steps=steps, losses=tuple(by_step[step] for step in steps)
    )
