"""Storage and accumulate precision apart, against torch and float64."""

import numpy as np
import pytest
import torch

from core.dtypes import FORMATS
from core.dtypes.labs.matmul import matmul

F32, FP16, BF16, E4M3 = (
    FORMATS[name] for name in ("float32", "float16", "bfloat16", "float8_e4m3fn")
)


def matrices(m=16, k=4096, n=16):
    rng = np.random.default_rng(0)
    return rng.normal(size=(m, k)), rng.normal(size=(k, n))


@pytest.mark.parametrize(
    ("storage", "accumulate", "error"),
    [(BF16, F32, 2.9e-3), (BF16, BF16, 7.3e-2), (FP16, F32, 3.5e-4), (FP16, FP16, 9.5e-3)],
    ids=lambda part: getattr(part, "name", part),
)
def test_errors_at_depth_4096_have_the_measured_size(storage, accumulate, error):
    """The lab numbers of 64x4096x64: 2.9e-3, 7.3e-2, 3.5e-4, 9.5e-3; here 16 rows and columns."""
    assert matmul(*matrices(), storage, accumulate).error == pytest.approx(error, rel=0.15)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_float32_sums_are_torchs_matmul_up_to_its_order(name):
    a, b = matrices(k=256)
    ours = matmul(a, b, FORMATS[name], F32)
    dtype = getattr(torch, name)
    theirs = (torch.tensor(a).to(dtype) @ torch.tensor(b).to(dtype)).double().numpy()
    # Another order of the float32 sums may move a result across a rounding border: one unit.
    np.testing.assert_allclose(ours.product, theirs, rtol=FORMATS[name].eps, atol=1e-3)
    assert np.mean(ours.product == theirs) > 0.95


def test_running_sums_in_bfloat16_are_those_of_a_loop_in_torch():
    a, b = matrices(m=3, k=64, n=2)
    left, right = (torch.tensor(each).to(torch.bfloat16) for each in (a, b))
    total = torch.zeros(3, 2, dtype=torch.bfloat16)
    for k in range(64):
        exact = left[:, k : k + 1].double() * right[k : k + 1].double()
        total = (total.double() + exact).float().to(torch.bfloat16)
    np.testing.assert_array_equal(matmul(a, b, BF16, BF16).product, total.double().numpy())


def test_one_pass_finds_the_errors_of_every_depth():
    a, b = matrices(k=256)
    curve = matmul(a, b, BF16, BF16, 1, [16, 64, 256])
    for depth, error in zip(curve.depths, curve.errors, strict=True):
        assert error == matmul(a[:, :depth], b[:depth], BF16, BF16).error, depth
    assert curve.errors[0] < curve.errors[1] < curve.errors[2] == curve.error


def test_larger_chunks_round_less_often_and_err_less():
    a, b = matrices(k=1024)
    errors = [matmul(a, b, BF16, BF16, chunk).error for chunk in (1, 16, 128, 1024)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 5 * errors[-1]


def test_a_thousand_products_of_ones_stop_at_the_accumulators_limit():
    ones = np.ones((1, 1000)), np.ones((1000, 1))
    assert matmul(*ones, BF16, BF16).product.tolist() == [[256.0]]
    assert matmul(*ones, BF16, F32).product.tolist() == [[1000.0]]
    assert not np.isfinite(matmul(*ones, E4M3, F32).error), "the sum overflows the storage"


def test_a_product_of_zeros_has_no_error():
    assert matmul(np.zeros((2, 3)), np.zeros((3, 2)), BF16, F32).error == 0.0
