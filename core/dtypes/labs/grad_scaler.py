"""The loss scale as a machine with two numbers: halved when a gradient overflows, doubled later."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats
from core.language import _

Change = Literal["halved", "grew", "kept"]
FLOAT32_MAX: Final = float(np.finfo(np.float32).max)
SPIKE: Final = 64.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ScalerRule:
    """How the scale moves; the defaults are those of `torch.amp.GradScaler`.

    Attributes:
        init_scale: The scale of the first step.
        growth_factor: What it is multiplied by after `growth_interval` clean steps in a row.
        backoff_factor: What it is multiplied by when a gradient is infinite or NaN.
        growth_interval: In steps.
    """

    init_scale: float = 65536.0
    growth_factor: float = 2.0
    backoff_factor: float = 0.5
    growth_interval: int = 2000

    def __post_init__(self) -> None:
        sound = (
            self.init_scale > 0
            and self.growth_factor > 1
            and 0 < self.backoff_factor < 1
            and self.growth_interval >= 1
        )
        if not sound:
            raise ValueError(
                _(
                    "A scaler needs a positive scale, a growth factor above 1, a backoff factor "
                    "between 0 and 1, and a growth interval of 1 step or more."
                )
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class ScalerStep:
    """One optimizer step under the scaler.

    Attributes:
        step: From 1.
        peak: The largest |gradient| of the step, unscaled.
        scale: What the loss is multiplied by in this step.
        stored: peak * scale as the format stores it.
        found_inf: Whether that is infinite or NaN; then the optimizer step is skipped.
        clean_steps: Clean steps in a row after this one; 0 after a change of the scale.
        change: "halved", "grew" or "kept".
        next_scale: The scale of the next step.
    """

    step: int
    peak: float
    scale: float
    stored: float
    found_inf: bool
    clean_steps: int
    change: Change
    next_scale: float


def run_scaler(
    peaks: Sequence[float] | Floats, fmt: Format, rule: ScalerRule | None = None
) -> tuple[ScalerStep, ...]:
    """Return what a gradient scaler does, step by step.

    Args:
        peaks: The largest |gradient| of each step, unscaled; infinity and NaN are allowed.
        fmt: The format in which the backward pass computes.
        rule: How the scale moves; as `torch.amp.GradScaler` unless said otherwise.

    Source: torch/amp/grad_scaler.py and `_amp_update_scale_`; the scale is a float32 and does not
    grow beyond it.

    >>> from core.dtypes import FORMATS
    >>> [(each.scale, each.change) for each in run_scaler([1.5, 1.5, 0.1], FORMATS["float16"])]
    [(65536.0, 'halved'), (32768.0, 'kept'), (32768.0, 'kept')]
    """
    rule = rule or ScalerRule()
    steps: list[ScalerStep] = []
    scale, clean = rule.init_scale, 0
    for number, peak in enumerate(peaks, start=1):
        with np.errstate(over="ignore", invalid="ignore"):
            stored = float(fmt.round(np.float64(peak) * scale))
        found_inf = not np.isfinite(stored)
        next_scale, next_clean, change = _updated(rule, scale, clean, found_inf=found_inf)
        steps.append(
            ScalerStep(
                step=number,
                peak=float(peak),
                scale=scale,
                stored=stored,
                found_inf=found_inf,
                clean_steps=next_clean,
                change=change,
                next_scale=next_scale,
            )
        )
        scale, clean = next_scale, next_clean
    return tuple(steps)


def _updated(
    rule: ScalerRule, scale: float, clean: int, *, found_inf: bool
) -> tuple[float, int, Change]:
    if found_inf:
        return float(np.float32(scale * rule.backoff_factor)), 0, "halved"
    if clean + 1 < rule.growth_interval:
        return scale, clean + 1, "kept"
    grown = scale * rule.growth_factor
    if grown > FLOAT32_MAX:
        return scale, 0, "kept"
    return float(np.float32(grown)), 0, "grew"


def gradient_peaks(num_steps: int, first: float, spike_step: int) -> Floats:
    """Return a made-up but typical series of largest gradients: a slow decay and one spike.

    Args:
        num_steps: How many steps.
        first: The largest |gradient| of step 1.
        spike_step: The step with a gradient 64 times as large; 0 for none.

    Returns:
        (num_steps,) numbers; over the whole series they fall to a quarter.
    """
    peaks: Floats = first * 0.25 ** (np.arange(num_steps) / max(num_steps - 1, 1))
    if 1 <= spike_step <= num_steps:
        peaks[spike_step - 1] *= SPIKE
    return peaks
