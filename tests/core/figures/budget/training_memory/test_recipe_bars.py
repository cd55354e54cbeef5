"""Recipes by their data: bytes for each parameter."""

from core.budget.catalogue.precisions import PRECISIONS
from core.budget.training.states import bytes_per_parameter
from core.figures.budget.training_memory.recipe_bars import recipe_alt, recipe_figure, recipe_table
from core.figures.theme import MODES

ROWS = [(key, bytes_per_parameter(key)) for key in PRECISIONS]


def test_a_bar_is_as_long_as_the_bytes_of_its_recipe():
    for mode in MODES:
        figure = recipe_figure(ROWS, 2, mode)
        for place, (_key, each) in enumerate(ROWS):
            assert sum(trace.x[place] for trace in figure.data) == each.amount
        texts = [note.text for note in figure.layout.annotations]
        assert texts[2] == " <b>16 B ◄</b>"
        assert texts[0] == " 16 B"


def test_words_and_table_say_the_same():
    assert "nanotron 20 B" in recipe_alt(ROWS)
    table = recipe_table(ROWS)
    assert table["total"] == [row.with_adam for row in PRECISIONS.values()]
    assert table["gradient sums"][-1] == 4
