"""What a run's numbers say so far: smoothed loss, seconds left, what has been learnt.

The live page computes the same things in the browser; a browser test compares the two.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.language import N_, _

Stage = Literal["unknown", "worse", "guess", "frequencies", "context"]

# The sentence of each stage. `distance` is how far the validation loss lies below what the stage
# has beaten; `goal` is the next reference on the way down.
LEARNT: Final[dict[Stage, str]] = {
    "unknown": N_("No validation loss yet: the first one comes at the next evaluation."),
    "worse": N_(
        "Validation loss {loss}: no better than a uniform guess among {vocab_size} tokens "
        "(ln V = {goal} nats)."
    ),
    "guess": N_(
        "Validation loss {loss}: {distance} nats below a uniform guess. "
        "Knowing only how often each token occurs would give {goal}."
    ),
    "frequencies": N_(
        "Validation loss {loss}: {distance} nats below what token frequencies give. "
        "Knowing the token before as well would give {goal}."
    ),
    "context": N_(
        "Validation loss {loss}: {distance} nats below the bigram entropy, "
        "so the model uses more than the token just before."
    ),
}
REAL_WORDS: Final = N_("{share} % of the words in its last sample are words of the text.")


@dataclass(frozen=True, kw_only=True, slots=True)
class References:
    """Losses that need no network, in nats per token: the rungs of the ladder.

    Attributes:
        vocab_size: Different tokens, V.
        ln_vocab: Loss of a uniform guess, ln V.
        unigram_entropy: Loss of the best guess from token frequencies alone.
        bigram_entropy: Loss of the best guess from the token before alone.
    """

    vocab_size: int
    ln_vocab: float
    unigram_entropy: float
    bigram_entropy: float


def stage(validation_loss: float | None, references: References) -> Stage:
    """Return which rung the validation loss has reached.

    >>> stage(
    ...     2.0, References(vocab_size=65, ln_vocab=4.17, unigram_entropy=3.3, bigram_entropy=2.4)
    ... )
    'context'
    """
    if validation_loss is None or not math.isfinite(validation_loss):
        return "unknown"
    if validation_loss >= references.ln_vocab:
        return "worse"
    if validation_loss >= references.unigram_entropy:
        return "guess"
    return "frequencies" if validation_loss >= references.bigram_entropy else "context"


def learning_sentence(validation_loss: float | None, references: References) -> str:
    """Return one sentence on what the model has learnt, in the reader's language."""
    reached = stage(validation_loss, references)
    if validation_loss is None or reached == "unknown":
        return _(LEARNT["unknown"])
    beaten, goal = {
        "worse": (validation_loss, references.ln_vocab),
        "guess": (references.ln_vocab, references.unigram_entropy),
        "frequencies": (references.unigram_entropy, references.bigram_entropy),
        "context": (references.bigram_entropy, references.bigram_entropy),
    }[reached]
    return _(LEARNT[reached]).format(
        loss=f"{validation_loss:.2f}",
        distance=f"{beaten - validation_loss:.2f}",
        goal=f"{goal:.2f}",
        vocab_size=references.vocab_size,
    )


def word_sentence(num_words: int, num_real_words: int) -> str:
    """Return the share of real words in a sample as a sentence; empty when it holds no words."""
    if num_words <= 0:
        return ""
    return _(REAL_WORDS).format(share=f"{100 * num_real_words / num_words:.0f}")


def half_life(step: int, num_steps: int) -> float:
    """Return the half-life of the smoothed loss, in steps: short while the loss falls fast.

    A twentieth of the steps so far, from 2 steps up to a hundredth of the whole run.
    """
    return max(2.0, min(step / 20, num_steps / 100))


def smooth(
    steps: Sequence[int], values: Sequence[float | None], num_steps: int
) -> list[float | None]:
    """Return the exponential average of `values` over steps, which need not be evenly spaced.

    A value that is missing or not finite stays missing and leaves the average as it was.

    >>> smooth([1, 3, 7], [4.0, 2.0, 2.0], num_steps=100)
    [4.0, 3.0, 2.25]
    """
    averages: list[float | None] = []
    average, last_step = None, 0
    for step, value in zip(steps, values, strict=True):
        if value is None or not math.isfinite(value):
            averages.append(None)
            continue
        faded = (step - last_step) / half_life(step, num_steps)
        keep = 0.0 if average is None else 0.5**faded
        average = keep * (average or 0.0) + (1 - keep) * value
        last_step = step
        averages.append(average)
    return averages


def seconds_per_step(
    steps: Sequence[int], times: Sequence[float], window: int = 40
) -> float | None:
    """Return the median seconds from one step to the next over the last `window` records.

    The median forgets a pause; None before two records exist.

    >>> seconds_per_step([1, 2, 3, 5], [0.0, 1.0, 61.0, 63.0])
    1.0
    """
    steps, times = steps[-window - 1 :], times[-window - 1 :]
    gaps = [
        (t1 - t0) / (s1 - s0)
        for s0, s1, t0, t1 in zip(steps[:-1], steps[1:], times[:-1], times[1:], strict=True)
        if s1 > s0
    ]
    return statistics.median(gaps) if gaps else None


def own_pace(
    trained_seconds: float, step: int, steps: Sequence[int], times: Sequence[float]
) -> float | None:
    """Return the seconds that a step takes by the machine's own speed; None if nothing is known.

    Evaluations, samples and checkpoints have their share in it; pauses and a speed limit do not.

    Args:
        trained_seconds: Training time so far, of `RunState`; 0 in a run that did not note it.
        step: Steps done in that time.
        steps: The steps of the newest records, which stand in where no time was noted.
        times: When each of them ended, in seconds.
    """
    return trained_seconds / step if trained_seconds and step else seconds_per_step(steps, times)


def seconds_left(
    num_steps_left: int,
    pace: float,
    max_steps_per_second: float | None = None,
    trained_seconds_left: float | None = None,
) -> float:
    """Return the seconds until the last step or the end of the time, whichever comes first.

    Args:
        num_steps_left: Steps that are planned still.
        pace: Seconds of a step by the machine's own speed, as `own_pace` gives them.
        max_steps_per_second: The speed limit, if there is one.
        trained_seconds_left: What is left of the time limit, if there is one; it does not count
            while the speed limit holds the run back.

    >>> seconds_left(3600, 0.01), seconds_left(3600, 0.01, max_steps_per_second=0.5)
    (36.0, 7200.0)
    """
    held_back = max(pace, 1 / max_steps_per_second) if max_steps_per_second else pace
    by_steps = num_steps_left * held_back
    if trained_seconds_left is None:
        return by_steps
    return min(by_steps, max(trained_seconds_left, 0.0) / pace * held_back)


def axis_unit(num_bytes: float, unit: str = "GiB") -> tuple[int, str]:
    """Return the divisor and the name of the byte unit that suits an axis up to `num_bytes`.

    >>> axis_unit(37_000_000), axis_unit(37_000_000, "GB")
    ((1048576, 'MiB'), (1000000, 'MB'))
    """
    base, names = (1024, ("KiB", "MiB", "GiB")) if unit == "GiB" else (1000, ("kB", "MB", "GB"))
    power = 3 if num_bytes >= base**3 else 2 if num_bytes >= base**2 else 1
    return base**power, names[power - 1]
