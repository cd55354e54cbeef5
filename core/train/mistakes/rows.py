"""What a short run wrote down of itself: numbers of its steps, and a few steps looked at closely.

Findings read nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One step, measured on the weights before and after it.

    Attributes:
        loss: Of this step's batch before its update, and `loss_after` behind it.
        norm: Of the gradient that the optimizer was given, before clipping.
        own_norm: Of what this step's batch alone gives with the same weights, in float32.
        cosine: Between the two.
        vanished: Share of the gradient that is zero where in float32 it is not.
        unmoved: Share of the weights that the optimizer asked to move and that kept every bit.
        ulps: Median of the moves asked for, in units in the last place of the weight.
        moved: Root mean square of the change, over that of the weights.
        leak: Largest change of a score when only tokens behind its place are changed.
        copied: Share of places where the model's first guess is the token that it has just read.
    """

    step: int
    loss: float
    loss_after: float
    norm: float
    own_norm: float
    cosine: float
    vanished: float
    unmoved: float
    ulps: float
    moved: float
    leak: float
    copied: float

    @property
    def ratio(self) -> float:
        """How many times as long the gradient is as that of its batch alone."""
        return self.norm / self.own_norm if self.own_norm else 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """A run.

    Attributes:
        batch_tokens: Of a step, all its accumulation passes together.
        num_tokens: Of the text that it learns from.
        starts: Where the first sequence of each step's batch begins in the text.
        validations: Step and loss, then the loss of the same texts by the same weights once more.
        bad_tensor: Where the first number went bad, "" if all are finite.
        bad_format: Number format of that weight.
        eps: What the optimizer adds to the root of the second moment, as it was asked to.
        kept_eps: The same in that format.
        no_moment: Share of the second moments that are zero, at the end.
        uniform, bigram: Losses of who knows nothing and of who knows the token before; nats.
    """

    batch_tokens: int
    accumulation_steps: int
    num_tokens: int
    learning_rates: Sequence[float]
    losses: Sequence[float]
    norms: Sequence[float]
    starts: Sequence[int]
    validations: Sequence[tuple[int, float, float]]
    probes: Sequence[Probe]
    bad_tensor: str
    bad_format: str
    eps: float
    kept_eps: float
    no_moment: float
    uniform: float
    bigram: float


def rows_of(data: Mapping[str, Any]) -> Rows:
    """Return the rows that `asdict` and JSON made plain."""
    return Rows(**{**data, "probes": [Probe(**probe) for probe in data["probes"]]})
