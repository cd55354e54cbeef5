import numpy as np
import pytest
import torch

from core.dtypes import FORMATS
from core.dtypes.labs.picture import color_picture, stored_picture

PICTURE = color_picture()


def test_the_picture_has_smooth_shades_darkness_and_light():
    assert PICTURE.shape == (512, 512, 3)
    assert 0 <= PICTURE.min() < 0.05
    assert 0.97 < PICTURE.max() <= 1
    assert np.unique(PICTURE).size > 30_000
    np.testing.assert_array_equal(PICTURE * 65535, np.rint(PICTURE * 65535))


@pytest.mark.parametrize("name", ["float16", "float8_e4m3fn", "int4", "nf4"])
@pytest.mark.parametrize("exposure", [1.0, 2.0**17, 2.0**-12])
def test_levels_with_their_counts_say_what_all_values_say(name, exposure):
    levels, place, counts = np.unique(PICTURE, return_inverse=True, return_counts=True)
    whole = stored_picture(PICTURE, FORMATS[name], exposure)
    quick = stored_picture(levels, FORMATS[name], exposure, counts)
    np.testing.assert_array_equal(quick.pixels[place], whole.pixels)
    assert quick.num_shades == whole.num_shades
    assert (quick.num_lost, quick.num_values) == (whole.num_lost, whole.num_values)
    assert whole.num_values == 512 * 512 * 3
    assert quick.sqnr_db == pytest.approx(whole.sqnr_db, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e5m2"])
def test_floats_give_back_the_pixels_of_torch(name):
    theirs = torch.tensor(PICTURE, dtype=torch.float32).to(getattr(torch, name)).double().numpy()
    ours = stored_picture(PICTURE.astype(np.float32).astype(np.float64), FORMATS[name])
    np.testing.assert_array_equal(ours.pixels, theirs)
    assert ours.num_shades == np.unique(theirs).size
    assert ours.scale == 1.0


def test_fewer_bits_keep_fewer_shades():
    names = ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn")
    stored = [stored_picture(PICTURE, FORMATS[name]) for name in names]
    ratios = [each.sqnr_db for each in stored]
    assert ratios == sorted(ratios, reverse=True)
    shades = [each.num_shades for each in stored if each.format != "float8_e5m2"]  # more dark ones
    assert shades == sorted(shades, reverse=True)
    assert shades[-1] <= 4


def test_integers_get_a_scale_for_their_largest_number():
    ours = stored_picture(PICTURE, FORMATS["int8"])
    assert ours.scale == 127 / PICTURE.max()
    assert np.abs(ours.pixels - PICTURE).max() <= 0.5 / ours.scale * (1 + 1e-12)
    assert stored_picture(np.zeros((2, 2)), FORMATS["int8"]).num_lost == 0


def test_too_bright_is_lost_to_infinity_and_too_dark_to_zero():
    bright = stored_picture(PICTURE, FORMATS["float16"], 2.0**17)
    assert bright.num_lost == np.count_nonzero(PICTURE * 2.0**17 >= 65520) > 0
    assert np.isnan(bright.sqnr_db)
    assert stored_picture(PICTURE, FORMATS["float8_e4m3fn"], 2.0**18).num_shades == 0
    dark = stored_picture(PICTURE, FORMATS["float8_e4m3fn"], 2.0**-12)
    assert dark.num_lost == PICTURE.size
    assert dark.sqnr_db == pytest.approx(0)
    # the range of bfloat16 makes every exposure the same
    shades = {stored_picture(PICTURE, FORMATS["bfloat16"], 2.0**k).num_shades for k in (-20, 0, 20)}
    assert len(shades) == 1


def test_a_lossless_copy_has_an_endless_ratio():
    halves = np.array([0.0, 0.5, 1.0])
    assert stored_picture(halves, FORMATS["float16"]).sqnr_db == np.inf
    assert stored_picture(halves, FORMATS["float16"]).num_lost == 0
