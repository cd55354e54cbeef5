"""The bands under a loss scale, counted by borders, against rounding every gradient."""

import numpy as np
import pytest
import torch

from core.dtypes import FORMATS, float_format
from core.dtypes.labs.loss_scale import band_borders, gradient_histogram, loss_scale_bands

NAMES = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float32")
GRADIENTS = np.random.default_rng(0).normal(0, 1e-6, 200_000).astype(np.float32)


def counted_by_rounding(gradients, fmt, scale):
    scaled = gradients.astype(np.float64) * scale
    stored = np.abs(fmt.round(scaled, overflow="infinity"))
    overflow = ~np.isfinite(stored)
    zero, normal = stored == 0, stored >= fmt.smallest_normal
    return [
        int(np.count_nonzero(band))
        for band in (zero, ~zero & ~normal & ~overflow, normal & ~overflow, overflow)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_borders_count_what_rounding_each_gradient_counts(name):
    fmt = FORMATS[name]
    borders = [border for border, _up in band_borders(fmt)]
    ties = [x * factor for x in borders for factor in (1 - 2**-40, 1, 1 + 2**-40)]
    wide = np.random.default_rng(1).normal(size=3000) * 2.0 ** np.linspace(-40, 40, 3000)
    gradients = np.array([*ties, *(-x for x in ties), *wide, 0.0, -0.0])
    histogram = gradient_histogram(gradients)
    for scale in (2.0**-8, 1.0, 2.0**16):
        scaled = np.concatenate([gradients, np.array(ties) / scale])
        ours = loss_scale_bands(gradient_histogram(scaled), fmt, scale)
        assert list(ours.counts) == counted_by_rounding(scaled, fmt, scale), scale
    assert sum(loss_scale_bands(histogram, fmt).counts) == gradients.size


def test_small_gradients_in_float16_are_lost_without_and_kept_with_a_scale():
    """Measured with torch: 2.37 % zero, 97.6 % subnormal; 0.0087 %, 18.9 %; none, 0.075 %."""
    histogram = gradient_histogram(GRADIENTS)
    sweep = [loss_scale_bands(histogram, FORMATS["float16"], 2**k) for k in (0, 8, 16)]
    zero = [bands.shares[0] for bands in sweep]
    subnormal = [bands.shares[1] for bands in sweep]
    assert zero == pytest.approx([0.0237, 0.000087, 0.0], abs=1e-3)
    assert subnormal == pytest.approx([0.976, 0.189, 0.00075], abs=3e-3)
    flushed = torch.tensor(GRADIENTS).to(torch.half) == 0
    assert sweep[0].counts.zero == int(flushed.sum())


def test_bins_hold_what_lies_between_their_edges():
    histogram = gradient_histogram([0.0, 0.25, -0.3, 0.4, 1.0])
    assert histogram.edges.tolist() == [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0]
    assert histogram.counts.tolist() == [2, 1, 0, 0, 1, 0]


def test_gradients_that_are_all_zero_make_an_empty_histogram():
    histogram = gradient_histogram(np.zeros((3, 4)))
    assert histogram.counts.sum() == 0
    bands = loss_scale_bands(histogram, FORMATS["float16"], 65536.0)
    assert bands.counts == (12, 0, 0, 0)


def test_a_format_that_flushes_has_no_subnormal_band():
    fmt = float_format("flushing", 4, 3, subnormals=False)
    gradients = np.geomspace(1e-4, 1.0, 999)
    ours = loss_scale_bands(gradient_histogram(gradients), fmt)
    assert list(ours.counts) == counted_by_rounding(gradients, fmt, 1.0)
    assert ours.counts.subnormal == 0
