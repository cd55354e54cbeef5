"""Where the parameters are: every one of them is in a bar, and experts show what is idle."""

from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import active_parameters, count_parameters
from core.figures.budget.model_sizes.parts import part_rows, parts_picture
from core.figures.picture import Look


def picture_of(key, **look):
    spec = MODELS[key]
    tree = count_parameters(spec)
    idle = tree.amount - active_parameters(spec).amount
    return tree, parts_picture(spec.name, tree, idle, Look(**look))


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

    assert idle.name == "a token leaves out"
    assert idle.marker.pattern.shape == "/"
    assert sum(passed.x) == 12_879_925_248
    assert sum(idle.x) == tree.amount - 12_879_925_248
    assert len(drawn("llama-2-7b")[1].data) == 1


def test_a_hover_shows_the_formula_with_its_numbers():
    _tree, figure = drawn("llama-2-7b")

    count, explained = figure.data[0].customdata[0]
    assert count == "131,072,000"
    assert explained == "vocab_size * hidden_dim<br>= 32,000 * 4,096"


def test_sentence_and_table_name_the_parts():
    tree, picture = picture_of("deepseek-v3")

    assert picture.alt.startswith("671,026,404,352 parameters of DeepSeek-V3: experts 97.4 %")
    assert "vocab_size × hidden_dim" in picture.table["formula"]
    assert len(picture.table["part"]) == len(list(tree.walk())) - 1
