"""The empty charts that the browser fills."""

import json

import pytest

from core.figures.picture import Look
from core.figures.theme import COLORS
from pages.components.live_chart.charts import empty_charts
from pages.components.live_chart.words import live_words


def roles(chart):
    return [trace["meta"]["role"] for trace in chart["data"]]


@pytest.mark.parametrize("present", [False, True])
def test_both_themes_come_as_plain_json_with_the_same_traces_and_an_alt_text(present):
    light, dark = (empty_charts(Look(mode=mode, present=present)) for mode in ("light", "dark"))
    assert json.loads(json.dumps(light)) == light
    for one, other in zip(light, dark, strict=True):
        assert [each["meta"] for each in one["data"]] == [each["meta"] for each in other["data"]]
        assert other["layout"]["paper_bgcolor"] == COLORS["dark"]["background"]
        assert one["layout"]["font"]["size"] >= (18 if present else 12)
        assert f"alt_{one['layout']['meta']['name']}" in live_words()


def test_hiding_the_prediction_leaves_out_its_line_and_its_bars():
    (_loss, shown, *_more, speed), (_loss, hidden, *_more, alone) = (
        empty_charts(Look(), show_prediction=show) for show in (True, False)
    )
    assert [len(each["x"]) for each in shown["data"] if each["meta"]["role"] == "bar"] == [2] * 5
    assert [len(each["x"]) for each in hidden["data"] if each["meta"]["role"] == "bar"] == [1] * 5
    assert set(roles(speed)) - set(roles(alone)) == {"predicted_rate"}
