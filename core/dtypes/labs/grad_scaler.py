"""The loss scale as a machine with two numbers: halved when a gradient overflows, doubled later."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats

FLOAT32_MAX: Final = float(np.finfo(np.float32).max)
FIRST_SCALE: Final = 2.0**16
GROWTH_INTERVAL: Final = 2000
SPIKE: Final = 64.0


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
        next_scale: The scale of the next step.
    """

    step: int
    peak: float
    scale: float
    stored: float
    found_inf: bool
    clean_steps: int
    change: Literal["halved", "grew", "kept"]
    next_scale: float


def run_scaler(
    peaks: Sequence[float] | Floats, fmt: Format, growth_interval: int = GROWTH_INTERVAL
) -> tuple[ScalerStep, ...]:
    """Return what a gradient scaler does, step by step; the defaults are those of torch.

    Args:
        peaks: The largest |gradient| of each step, unscaled; infinity and NaN are allowed.
        fmt: The format in which the backward pass computes.
        growth_interval: Clean steps in a row after which the scale doubles.

    Source: torch/amp/grad_scaler.py and `_amp_update_scale_`; the scale is a float32 and does not
    grow beyond it.

    >>> from core.dtypes import FORMATS
    >>> [(each.scale, each.change) for each in run_scaler([1.5, 1.5, 0.1], FORMATS["float16"])]
    [(65536.0, 'halved'), (32768.0, 'kept'), (32768.0, 'kept')]
    """
    steps: list[ScalerStep] = []
    scale, clean = FIRST_SCALE, 0
    for number, peak in enumerate(peaks, start=1):
        with np.errstate(over="ignore", invalid="ignore"):
            stored = float(fmt.round(np.float64(peak) * scale))
        found_inf = not np.isfinite(stored)
        factor, clean = (0.5, 0) if found_inf else (1.0, clean + 1)
        if clean == growth_interval:
            factor, clean = (2.0 if 2 * scale <= FLOAT32_MAX else 1.0), 0
        steps.append(
            ScalerStep(
                step=number,
                peak=float(peak),
                scale=scale,
                stored=stored,
                found_inf=found_inf,
                clean_steps=clean,
                change="halved" if factor < 1 else "grew" if factor > 1 else "kept",
                next_scale=scale * factor,
            )
        )
        scale *= factor
    return tuple(steps)


def gradient_peaks(num_steps: int, first: float, spike_step: int) -> Floats:
    """Return a made-up but typical series of largest gradients: a slow decay and one spike.

    Over the whole series they fall to a quarter; the one of `spike_step`, counted from 1, is 64
    times as large, that of step 0 does not exist.
    """
    peaks: Floats = first * 0.25 ** (np.arange(num_steps) / max(num_steps - 1, 1))
    if 1 <= spike_step <= num_steps:
        peaks[spike_step - 1] *= SPIKE
    return peaks
