"""The scaler as a state machine, step by step beside torch.amp.GradScaler."""

import numpy as np
import pytest
import torch

from core.dtypes import FORMATS
from core.dtypes.labs import ScalerRule, gradient_peaks, run_scaler

FP16 = FORMATS["float16"]


def torch_steps(peaks, rule):
    """Return (scale, whether the weight was left alone, next scale, clean steps) of torch."""
    scaler = torch.amp.GradScaler(
        "cpu",
        init_scale=rule.init_scale,
        growth_factor=rule.growth_factor,
        backoff_factor=rule.backoff_factor,
        growth_interval=rule.growth_interval,
    )
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    steps = []
    for peak in peaks:
        scale, before = scaler.get_scale(), weight.item()
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


@pytest.mark.parametrize(
    "rule",
    [
        ScalerRule(growth_interval=5),
        ScalerRule(growth_interval=1),
        ScalerRule(init_scale=1.0, growth_interval=3, growth_factor=4.0, backoff_factor=0.25),
        ScalerRule(),
    ],
    ids=lambda rule: f"{rule.init_scale:g} every {rule.growth_interval}",
)
def test_every_step_is_torchs(rule):
    peaks = gradient_peaks(60, 3.0, 30)
    peaks[[11, 40]] = np.inf, np.nan
    ours = [
        (each.scale, each.found_inf, each.next_scale, each.clean_steps)
        for each in run_scaler(peaks, FP16, rule)
    ]
    assert ours == torch_steps(peaks, rule)


def test_the_defaults_are_torchs():
    theirs = torch.amp.GradScaler("cpu")
    assert ScalerRule() == ScalerRule(
        init_scale=theirs.get_scale(),
        growth_factor=theirs.get_growth_factor(),
        backoff_factor=theirs.get_backoff_factor(),
        growth_interval=theirs.get_growth_interval(),
    )


def test_2000_clean_steps_double_once_but_never_beyond_float32():
    steps = run_scaler(np.full(2001, 1e-3), FP16)
    assert [each.step for each in steps if each.change == "grew"] == [2000]
    assert steps[-1].scale == 131072.0
    steps = run_scaler(np.zeros(3), FP16, ScalerRule(init_scale=2.0**127, growth_interval=1))
    assert [each.next_scale for each in steps] == [2.0**127] * 3


def test_the_made_up_gradients_fall_to_a_quarter_and_have_one_spike():
    peaks = gradient_peaks(41, 2.0, 21)
    assert (peaks[0], peaks[-1]) == (2.0, 0.5)
    assert peaks[20] == 64.0
    assert gradient_peaks(1, 2.0, 0).tolist() == [2.0]


@pytest.mark.parametrize(
    "wrong",
    [{"init_scale": 0}, {"growth_factor": 1}, {"backoff_factor": 1}, {"growth_interval": 0}],
)
def test_a_rule_that_cannot_work_is_refused(wrong):
    with pytest.raises(ValueError, match="A scaler needs a positive scale"):
        ScalerRule(**wrong)
