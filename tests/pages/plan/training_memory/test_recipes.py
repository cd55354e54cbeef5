"""Recipes by their data: bytes for each parameter."""

from core.budget.catalogue.precisions import PRECISIONS
from core.budget.training.states import bytes_per_parameter
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.plan.training_memory.recipes import recipes_picture

ROWS = [(key, bytes_per_parameter(key)) for key in PRECISIONS]


def test_a_bar_is_as_long_as_the_bytes_of_its_recipe():
    for mode in MODES:
        figure = recipes_picture(ROWS, 2, Look(mode=mode)).figure
        for place, (_key, each) in enumerate(ROWS):
            assert sum(trace.x[place] for trace in figure.data) == each.amount
        texts = [note.text for note in figure.layout.annotations]
        assert texts[2] == " <b>16 B ◄</b>"
        assert texts[0] == " 16 B"


def test_words_and_table_say_the_same():
    picture = recipes_picture(ROWS, 2, Look())
    assert "nanotron 20 B" in picture.alt
    assert picture.table["total"] == [row.with_adam for row in PRECISIONS.values()]
    assert picture.table["gradient sums"][-1] == 4
