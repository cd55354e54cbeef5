"""The scaler as a state machine, step by step beside torch.amp.GradScaler."""

import numpy as np
import pytest
import torch

from core.dtypes import FORMATS
from core.dtypes.labs.grad_scaler import GROWTH_INTERVAL, gradient_peaks, run_scaler

FP16 = FORMATS["float16"]


def torch_steps(peaks, interval):
    """Return (scale, whether the weight was left alone, next scale, clean steps) of torch."""
    scaler = torch.amp.GradScaler("cpu", growth_interval=interval)
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    steps = []
    for peak in peaks:
        before = weight.item()
        scaler.scale(torch.zeros(1))  # the scale is made at the first use
        scale = scaler.get_scale()
        # What a float16 backward pass would leave behind; torch unscales float32 gradients only.
        half = torch.tensor([peak * scale], dtype=torch.float64).to(torch.half)
        weight.grad = half.float()
        scaler.step(optimizer)
        scaler.update()
        tracker = int(scaler.state_dict()["_growth_tracker"])
        steps.append((scale, weight.item() == before, scaler.get_scale(), tracker))
    return steps


@pytest.mark.parametrize("interval", [5, 1, 3, 2000])
def test_every_step_is_torchs(interval):
    peaks = gradient_peaks(60, 3.0, 30)
    peaks[[11, 40]] = np.inf, np.nan
    ours = [
        (each.scale, each.found_inf, each.next_scale, each.clean_steps)
        for each in run_scaler(peaks, FP16, interval)
    ]
    assert ours == torch_steps(peaks, interval)


def test_2000_clean_steps_double_once_but_never_beyond_float32():
    assert torch.amp.GradScaler("cpu").get_growth_interval() == GROWTH_INTERVAL
    steps = run_scaler(np.full(2001, 1e-3), FP16)
    assert [each.step for each in steps if each.change == "grew"] == [2000]
    assert steps[-1].scale == 131072.0
    steps = run_scaler(np.zeros(120), FP16, 1)
    assert [each.next_scale for each in steps[-3:]] == [2.0**127] * 3


def test_the_made_up_gradients_fall_to_a_quarter_and_have_one_spike():
    peaks = gradient_peaks(41, 2.0, 21)
    assert (peaks[0], peaks[-1]) == (2.0, 0.5)
    assert peaks[20] == 64.0
    assert gradient_peaks(1, 2.0, 0).tolist() == [2.0]
