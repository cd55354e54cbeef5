"""Published speeds against the rule, by the markers."""

from core.budget.serving.decode_speeds import measured_fit, published_speeds
from core.figures.budget.serving.speed_proof import speed_alt, speed_figure, speed_table
from core.figures.theme import MODES


def test_every_published_speed_has_a_marker_at_its_place():
    rows, rule = published_speeds(), measured_fit()
    figure = speed_figure(rows, rule, "light")

    markers = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.name for trace in markers] == ["16 bits", "8 bits", "4 bits"]
    assert sorted(x for trace in markers for x in trace.x) == sorted(
        row.tokens_per_second for row in rows
    )
    seven = next(row for row in rows if row.tokens_per_second == 104.9)
    at = markers[0].x.index(104.9)
    assert markers[0].y[at] == 1 / rule.seconds(seven)
    assert "29 of 31 lie within 15 %" in speed_alt(rows, rule)
    assert "Llama-2 70B, 16 bits × 8" in speed_table(rows, rule)["model, bits, devices"]


def test_the_picture_is_drawn_in_both_themes_and_for_a_projector():
    for mode in MODES:
        figure = speed_figure(published_speeds(), measured_fit(), mode, present=True)
        assert figure.layout.font.size == 20
        assert figure.layout.height <= 340
