import pytest

from core.budget.compute.chinchilla import best_params, loss_for_size
from core.figures.budget.flops_and_time.iso_flop import (
    iso_flop,
    iso_flop_alt,
    iso_flop_table,
    sizes,
)

FLOPS = 9.574e21


def test_the_best_size_lies_in_the_middle_of_the_lines():
    around = sizes(FLOPS)
    best = best_params(FLOPS).amount
    assert around[len(around) // 2] == pytest.approx(best)
    figure = iso_flop(FLOPS, {"memory": 4e10}, "light")
    first = figure.data[0]
    assert first.y[0] == loss_for_size(FLOPS, first.x[0]) or first.name == "Hoffmann 2022"
    star = next(trace for trace in figure.data if trace.mode == "markers")
    assert star.x[0] == pytest.approx(best)


def test_a_limit_is_drawn_only_where_it_can_be_seen():
    near = iso_flop(FLOPS, {"memory": 4e10}, "dark")
    far = iso_flop(FLOPS, {"memory": 4e15}, "dark")
    assert len(near.data) == len(far.data) + 1
    assert "memory: 40.0 B" in [trace.name for trace in near.data]


def test_words_and_table():
    text = iso_flop_alt(FLOPS, {"memory": 4e10})
    assert "lowest near 8.93 B" in text
    assert "memory: 40.0 B." in text
    table = iso_flop_table(FLOPS)
    assert {len(column) for column in table.values()} == {len(table["parameters"])}
