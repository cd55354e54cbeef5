"""Softmax in few bits, against torch and against the exact one."""

import numpy as np
import pytest
import torch

from core.dtypes import FORMATS
from core.dtypes.labs.softmax import softmax

FP16, BF16 = FORMATS["float16"], FORMATS["bfloat16"]


def test_exp_of_11_1_overflows_float16_and_exp_of_11_does_not():
    trace = softmax([11.1, 1.0], FP16, stable=False)
    assert trace.exponentials[0] == np.inf == float(torch.tensor(11.1, dtype=torch.half).exp())
    assert trace.failure == "overflow"
    assert np.isnan(trace.probabilities[0])
    assert trace.probabilities[1] == 0
    assert softmax([11.0, 1.0], FP16, stable=False).failure == ""


@pytest.mark.parametrize("fmt", [FP16, BF16], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("largest", [1.0, 11.1, 89.0, 500.0])
def test_subtracting_the_maximum_always_works(fmt, largest):
    logits = largest - np.array([0.0, 1.0, 2.0, 4.0])
    trace = softmax(logits, fmt, stable=True)
    assert trace.failure == ""
    assert trace.exponentials.max() == 1.0
    theirs = torch.tensor(logits, dtype=getattr(torch, fmt.name)).softmax(0)
    # torch rounds once at the end, we after every step: at most a few units in the last place.
    np.testing.assert_allclose(trace.probabilities, theirs.float().numpy(), rtol=4 * fmt.eps)


def test_exponentials_are_torchs_to_the_bit_in_float16():
    logits = np.linspace(-15, 11, 200)
    theirs = torch.tensor(logits, dtype=torch.float64).to(torch.half).exp().double().numpy()
    np.testing.assert_array_equal(softmax(logits, FP16, stable=False).exponentials, theirs)


def test_the_sum_of_exponentials_can_overflow_although_none_of_them_does():
    trace = softmax([11.0, 11.0], FP16, stable=False)
    assert np.isfinite(trace.exponentials).all()
    assert trace.total == np.inf
    assert (trace.failure, trace.probabilities.tolist()) == ("overflow", [0.0, 0.0])


def test_very_negative_logits_sum_to_zero():
    trace = softmax([-20.0, -21.0], FP16, stable=False)
    assert (trace.total, trace.failure) == (0.0, "zero_sum")
    assert np.isnan(trace.probabilities).all()
    assert softmax([-20.0, -21.0], FP16, stable=True).probabilities.sum() == pytest.approx(
        1, abs=1e-3
    )


def test_bfloat16_overflows_where_float32_does():
    assert softmax([88.5, 0.0], BF16, stable=False).failure == ""
    assert softmax([89.0, 0.0], BF16, stable=False).failure == "overflow"


def test_the_exact_softmax_sums_to_one():
    assert softmax([1000.0, 0.0], FP16, stable=False).exact.tolist() == [1.0, 0.0]
