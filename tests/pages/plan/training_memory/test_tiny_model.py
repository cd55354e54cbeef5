"""The account of a tiny model by its data."""

from core.budget.by_hand.tiny_model import tiny_account
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.plan.training_memory.tiny_model import tiny_picture

ACCOUNT = tiny_account(2, 4, 2)


def test_the_second_bar_is_longer_by_what_autograd_really_keeps():
    for mode, present in zip(MODES, (False, True), strict=True):
        figure = tiny_picture(ACCOUNT, Look(mode=mode, present=present)).figure
        sums = [sum(values) for values in zip(*(trace.x for trace in figure.data), strict=True)]
        assert sums == [496, 496 + 4 * (28 - 16)]
        assert figure.layout.legend.traceorder == "normal"  # as the parts stand in the bars


def test_the_sentence_and_the_table_say_the_same():
    picture = tiny_picture(ACCOUNT, Look())
    assert "496 B by the lecture's formulas, 544 B as torch keeps it" in picture.alt
    assert picture.table["total"] == ["496 B", "544 B"]
