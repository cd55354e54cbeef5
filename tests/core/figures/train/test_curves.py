"""Curves over steps, and the table of a rule's state."""

import math
from dataclasses import replace

from core.figures.picture import Look
from core.figures.train.curves import (
    MOST_POINTS,
    MOST_TICKS,
    Axes,
    curves_picture,
    decades,
    steps_table,
)
from core.train.optimizers.rule import Rule, run_rule

AXES = Axes(x="step", y="loss", log=True)


def test_a_long_curve_is_thinned_and_keeps_its_ends():
    values = [1.0 / (1 + step) for step in range(100_001)]
    (line,) = curves_picture({"rate": values}, AXES, Look()).figure.data
    assert len(line.x) <= MOST_POINTS + 1
    assert (line.x[0], line.x[-1]) == (0, 100_000)
    assert (line.y[0], line.y[-1]) == (values[0], values[-1])


def test_what_no_axis_can_hold_is_left_out_and_stays_in_the_table():
    values = [1.0, 1e40, math.inf, math.nan]
    picture = curves_picture({"loss": values}, replace(AXES, first=1), Look())
    (line,) = picture.figure.data
    assert line.y == (1.0, None, None, None)
    assert line.x == (1, 2, 3, 4)
    assert picture.table["loss"][1] == 1e40


def test_a_lone_curve_is_named_where_its_validation_losses_are():
    told = curves_picture({"run": [2.0, 1.0]}, AXES, Look(), points={"run": [(1, 1.5)]})
    assert all(each.showlegend is not False for each in told.figure.data)
    assert not curves_picture({"run": [2.0, 1.0]}, AXES, Look()).figure.data[0].showlegend


def test_curves_of_different_lengths_share_a_table_and_no_curve_is_told():
    picture = curves_picture({"a": [1.0, 2.0], "b": []}, AXES, Look())
    assert picture.table["b"] == [None, None]
    assert "a goes from 1 to 2 at step 1" in picture.alt
    assert "by way of" not in picture.alt
    there_and_back = curves_picture({"a": [1.0, 3.0, 2.0], "b": [1.0, 0.0, 1.0]}, AXES, Look()).alt
    assert "by way of 3 at step 1; " in there_and_back
    assert "by way of 0 at step 1" in there_and_back
    assert "nothing was computed" in curves_picture({"b": []}, AXES, Look()).alt


def test_the_table_of_steps_has_what_the_rule_computed():
    rule = Rule(lr=0.1, momentum="ema", second="ema", bias_correction=True)
    table = steps_table(rule, run_rule(rule, lambda _p: (0.5,), (1.0,), 3))
    assert table["t"] == [1, 2, 3]
    assert table["m"][0] == 0.5 * (1 - 0.9)
    assert math.isclose(table["v̂"][0], 0.25)
    assert table["p"][1] == table["p after"][0]


def test_a_logarithmic_axis_goes_from_power_to_power_with_few_labels():
    for values, wanted in (([0.02, 0.5], [-2, 0]), ([3.0], [0, 1]), ([1.0], [0, 1]), ([], [0, 1])):
        assert decades(values)["range"] == wanted, values
    axis = decades([1e-38, 1e30])
    assert (axis["range"][1] - axis["range"][0]) / axis["dtick"] <= MOST_TICKS
