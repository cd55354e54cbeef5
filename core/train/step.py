"""One training step as data: what was launched, and what it did."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class StepResult:
    """What a step did.

    Attributes:
        step: Its number, from 1.
        loss: Mean cross-entropy before the update, in nats per token.
        learning_rate: As used, the live multiplier included.
        grad_norm: Norm of all gradients before clipping.
        seconds: Wall time of the step.
        skipped: True if the weights were left alone because a number was not finite.
        tensor: Name of the first weight with a non-finite gradient; "" if all are finite.
    """

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    seconds: float
    skipped: bool
    tensor: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchedStep:
    """A step that the device was told to do; its numbers may not be there yet.

    Attributes:
        step: Its number, from 1.
        learning_rate: As used, the live multiplier included.
        numbers: The loss of each accumulation pass, then the gradient norm.
        began: perf_counter seconds at its begin.
        ended: The same when the last operation was launched; on a CPU, when it was done.
    """

    step: int
    learning_rate: float
    numbers: tuple[Tensor, ...]
    began: float
    ended: float
