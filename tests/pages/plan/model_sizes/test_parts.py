"""Where the parameters are: every one of them is in a bar, and experts show what is idle."""

from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import count_parameters, left_out
from core.figures.picture import Look
from pages.plan.model_sizes.parts import part_rows, parts_picture


def picture_of(key, **look):
    spec = MODELS[key]
    tree = count_parameters(spec)
    return tree, parts_picture(spec.name, tree, left_out(spec), Look(**look))


def drawn(key, **look):
    tree, picture = picture_of(key, **look)
    return tree, picture.figure


def test_the_bars_hold_all_parameters_of_every_model():
    for key in MODELS:
        tree, figure = drawn(key)
        assert sum(sum(bar.x) for bar in figure.data) == tree.amount, key
        assert len({row.label for row in part_rows(tree)}) == len(part_rows(tree)), key


def test_small_parts_stand_together_in_the_last_bar():
    rows = part_rows(count_parameters(MODELS["llama-2-7b"]))

    assert rows[-1].label == "the rest"
    assert rows[-1].amount == 32 * 2 * 4096 + 4096
    assert "norms of the layers, final norm" in rows[-1].explained


def test_experts_that_a_token_leaves_out_are_hatched():
    tree, figure = drawn("mixtral-8x7b", present=True)
    passed, idle = figure.data

    assert idle.name == "not active"
    assert idle.marker.pattern.shape == "/"
    one_row = 12_879_925_248 - 31_999 * 4096  # the router's two of eight, one row of the table
    assert sum(passed.x) == one_row
    assert sum(idle.x) == tree.amount - one_row


def test_of_a_table_that_is_only_looked_up_a_token_passes_one_row():
    _tree, figure = drawn("llama-2-7b")
    assert list(figure.data[1].x) == [31_999 * 4096, *[0] * (len(figure.data[0].x) - 1)]
    assert len(drawn("gemma-2-9b")[1].data) == 1  # its table is the head too
