"""Bars of norms and of bytes."""

from core.figures.picture import Look
from core.train.optimizers.in_torch import clipped_norms, state_bytes
from pages.train.optimizers_and_schedules.clipping import norms_picture
from pages.train.optimizers_and_schedules.rule import state_picture


def test_each_layer_has_its_norm_before_and_after():
    norms = clipped_norms(6, 2.0, 0.1)
    picture = norms_picture(norms, Look())
    before, after = picture.figure.data
    assert tuple(before.y) == norms.before
    assert tuple(after.y) == norms.after
    assert f"{norms.total_before:.3g} before clipping" in picture.alt


def test_a_norm_of_zero_has_a_bar_on_a_logarithmic_axis():
    picture = norms_picture(clipped_norms(50, 0.1, 1.0), Look(mode="dark"))
    assert min(picture.figure.data[0].y) > 0


def test_the_bars_of_state_are_its_bytes():
    rows = state_bytes()
    (bar,) = state_picture(rows, Look()).figure.data
    assert list(bar.y) == [row.per_parameter for row in rows]
    assert "exp_avg,<br>exp_avg_sq" in bar.text[list(bar.x).index("Adam")]
