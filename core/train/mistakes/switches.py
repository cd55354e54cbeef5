"""The twelve switches of Break it: what each changes, what may come of it, what mends it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from core.budget.table import read_table
from core.train.config import TrainConfig

SideName = Literal["healthy", "broken"]
SIDES: Final[tuple[SideName, ...]] = ("healthy", "broken")
NUM_SEEDS: Final = 10_000

_ROWS: Final = read_table(__file__)
OUTCOMES: Final[Mapping[str, str]] = _ROWS["outcomes"]
"""What a curve can do, as a reader would say it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Switch:
    """One mistake.

    Attributes:
        key: Its word in the address, and the name of its finding.
        title: What is wrong, in a few words.
        outcome: What the curve does, a key of `OUTCOMES`; `others` are what else might be thought,
            each with what is said to who thought so.
        why: What goes wrong.
        headline, evidence: What its finding says, with the run's own numbers put in.
        settings: Of both sides, where they differ from `BASE`.
        changes: Settings of the broken side alone.
        wrong, right: The lines of the loop or of the model.
    """

    key: str
    title: str
    outcome: str
    others: Mapping[str, str]
    why: str
    headline: str
    evidence: str
    changes: Mapping[str, Any]
    wrong: str
    right: str
    settings: Mapping[str, Any] = field(default_factory=dict)


# So small that twelve of them train in a minute on one core.
BASE: Final[Mapping[str, Any]] = {
    "num_layers": 2, "hidden_dim": 32, "num_heads": 4, "seq_len": 32, "batch_size": 8,
    "num_steps": 100, "learning_rate": 1e-2, "min_learning_rate": 1e-3, "warmup_steps": 20,
    "precision": "fp32", "device": "cpu", "eval_batches": 8,
}  # fmt: skip


SWITCHES: Final[Mapping[str, Switch]] = {row["key"]: Switch(**row) for row in _ROWS["switch"]}


def config_of(switch: Switch, side: SideName, seed: int) -> TrainConfig:
    """Return what one side of a switch trains: the same seed and text as the other."""
    changes = switch.changes if side == "broken" else {}
    return TrainConfig(**{**BASE, **switch.settings, **changes, "seed": seed})
