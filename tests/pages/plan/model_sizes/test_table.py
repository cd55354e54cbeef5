"""7B, 13B, 70B side by side: the bars are the table, its lines are devices."""

import pytest

from core.budget.weights.sizes import source_table
from core.figures.picture import Look
from core.figures.theme import COLORS
from core.units import GIB
from pages.plan.model_sizes.inputs import Line
from pages.plan.model_sizes.one_model import table_picture

LLAMA_2 = ("llama-2-7b", "llama-2-13b", "llama-2-70b")
LINES = (Line("A", 24 * GIB), Line("B", 80 * GIB), Line("beyond", 900 * GIB))


def drawn(cells, **look):
    return table_picture(cells, LINES, Look(**look))


@pytest.mark.parametrize("present", [False, True])
def test_bars_are_bytes_and_numbers_stand_above_them(present):
    cells = source_table()
    figure = drawn(cells, present=present).figure

    assert [bar.name for bar in figure.data] == ["7B", "13B", "70B"]
    assert list(figure.data[2].y) == [cell.item.amount for cell in cells[10:]]
    notes = figure.layout.annotations
    assert [note.text for note in notes[:5]] == ["26.1", "13.0", "6.52", "6.52", "3.26"]
    for place, note in enumerate(notes[:15]):  # in the middle of its bar, lines behind it
        row, group = divmod(place, 5)
        assert note.x == pytest.approx(group + (row - 1) * (1 - figure.layout.bargap) / 3)
        assert note.y == figure.data[row].y[group]
        assert note.bgcolor == COLORS["light"]["background"]
    assert figure.data[0].x == ("float32", "bfloat16", "float8_e4m3fn", "int8", "int4")


def test_the_table_puts_the_printed_figure_beside_the_right_one():
    table = drawn(source_table()).table

    assert table["weights"][5] == "48.43 GiB"
    assert table["printed in the tutorial"][5] == '✗ 48.48 "GB"'
    assert table["printed in the tutorial"][1] == '13.04 "GB"'
    assert table["A"][0] == "✗ ≥ 2 devices"
    real = drawn(source_table(LLAMA_2)).table
    assert set(real["printed in the tutorial"]) == {"–"}
