import pytest

from core.budget.compute.chinchilla import best_params, loss_for_size
from core.budget.compute.flop_ladder import flop_ladder
from core.budget.item import KINDS, Formula, item
from core.figures.budget.flops_and_time.amounts import ladder_picture, loss_picture, sizes
from core.figures.picture import Look

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
    assert "memory: 40.0 B" in [trace.name for trace in near]


def test_the_lowest_point_of_each_line_is_marked_with_its_tokens_a_parameter():
    """At 9.574e21 FLOPs Hoffmann's printed law is lowest at 62.3 tokens, the refit near 20."""
    figure = loss_picture(FLOPS, {}, Look()).figure
    marks = {trace.text[0]: trace for trace in figure.data if trace.mode == "markers+text"}
    assert [float(text.split()[0]) for text in marks] == [62.3, pytest.approx(20, abs=2)]
    assert [mark.textposition for mark in marks.values()] == ["bottom left", "bottom right"]
    for mark, line in zip(marks.values(), figure.data[:2], strict=True):
        assert mark.y[0] <= min(line.y)


def test_words_and_table_of_the_losses():
    picture = loss_picture(FLOPS, {"memory": 4e10}, Look())
    assert "lowest near 8.93 B" in picture.alt
    assert "memory: 40.0 B." in picture.alt
    assert len({len(column) for column in picture.table.values()}) == 1


def test_every_rung_is_a_mark_at_its_amount():
    rungs = flop_ladder()
    picture = ladder_picture(rungs, Look())
    traces = picture.figure.data
    marks = {name: x for trace in traces for name, x in zip(trace.y, trace.x, strict=True)}
    assert marks == {rung.name: rung.amount for rung in rungs}
    assert list(picture.figure.layout.yaxis.categoryarray) == [rung.name for rung in rungs]
    assert "training GPT-3 175B 3.15e23" in picture.alt
    assert {len(column) for column in picture.table.values()} == {len(rungs)}


def test_each_kind_has_a_colour_and_a_mark_of_its_own():
    values = {"amount": 1e12}
    rungs = [
        item(kind, Formula("amount"), values, unit="FLOPs", source="", kind=kind) for kind in KINDS
    ]
    traces = ladder_picture(rungs, Look()).figure.data
    assert [trace.y[0] for trace in traces] == [trace.name for trace in traces] == list(KINDS)
    assert len({trace.marker.color for trace in traces}) == 6
    assert len({trace.marker.symbol for trace in traces}) == 6


def test_a_class_climbs_rung_by_rung():
    figure = ladder_picture(flop_ladder()[:3], Look(mode="dark", present=True)).figure
    assert sum(len(trace.x) for trace in figure.data) == 3
