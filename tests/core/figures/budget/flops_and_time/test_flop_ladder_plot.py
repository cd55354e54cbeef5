from core.budget.compute.flop_ladder import flop_ladder
from core.figures.budget.flops_and_time.flop_ladder_plot import (
    ladder_alt,
    ladder_plot,
    ladder_table,
)


def test_every_rung_is_a_mark_at_its_amount():
    rungs = flop_ladder()
    figure = ladder_plot(rungs, "light")
    marks = {name: x for trace in figure.data for name, x in zip(trace.y, trace.x, strict=True)}
    assert marks == {rung.name: rung.amount for rung in rungs}
    assert list(figure.layout.yaxis.categoryarray) == [rung.name for rung in rungs]


def test_a_class_climbs_rung_by_rung():
    figure = ladder_plot(flop_ladder(), "dark", present=True, last=3)
    assert sum(len(trace.x) for trace in figure.data) == 3


def test_words_and_table():
    rungs = flop_ladder()
    assert "training GPT-3 175B 3.15e23" in ladder_alt(rungs)
    table = ladder_table(rungs)
    assert {len(column) for column in table.values()} == {len(rungs)}
