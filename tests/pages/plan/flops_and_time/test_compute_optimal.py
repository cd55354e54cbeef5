import pytest

from core.budget.compute.chinchilla import best_params, loss_for_size
from core.figures.picture import Look
from pages.plan.flops_and_time.compute_optimal import loss_picture, sizes

FLOPS = 9.574e21


def test_the_best_size_lies_in_the_middle_of_the_lines():
    around = sizes(FLOPS)
    best = best_params(FLOPS).amount
    assert around[len(around) // 2] == pytest.approx(best)
    figure = loss_picture(FLOPS, {"memory": 4e10}, Look()).figure
    first = figure.data[0]
    assert first.y[0] == loss_for_size(FLOPS, first.x[0]) or first.name == "Hoffmann 2022"
    star = next(trace for trace in figure.data if trace.mode == "markers")
    assert star.x[0] == pytest.approx(best)


def test_a_limit_is_drawn_only_where_it_can_be_seen():
    near, far = (
        loss_picture(FLOPS, {"memory": memory}, Look(mode="dark")).figure.data
        for memory in (4e10, 4e15)
    )
    assert len(near) == len(far) + 1
    assert "memory · 40.0 B" in [trace.name for trace in near]


def test_the_lowest_point_of_each_line_is_marked_with_its_tokens_a_parameter():
    """At 9.574e21 FLOPs Hoffmann's printed law is lowest at 62.3 tokens, the refit near 20."""
    figure = loss_picture(FLOPS, {}, Look()).figure
    marks = {trace.text[0]: trace for trace in figure.data if trace.mode == "markers+text"}
    assert [float(text.split()[0]) for text in marks] == [62.3, pytest.approx(20, abs=2)]
    assert [mark.textposition for mark in marks.values()] == ["bottom left", "bottom right"]
    for mark, line in zip(marks.values(), figure.data[:2], strict=True):
        assert mark.y[0] <= min(line.y)
