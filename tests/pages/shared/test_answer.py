"""A number with formula, numbers put in, unit, source and kind."""

import pytest

from core.budget import Formula, Item
from core.budget.item import total
from pages.shared.answer import explanation, written

WEIGHTS = Item(
    name="weights",
    amount=3_216_384,
    unit="bytes",
    low=3_216_384,
    high=3_216_384,
    rule=Formula("num_params * 4"),
    values={"num_params": 804_096},
    kind="exact",
    source="one stored number per parameter",
)


def test_an_explanation_gives_formula_numbers_unit_kind_and_source():
    assert explanation(WEIGHTS).split("\n\n") == [
        "`num_params * 4`",
        "`= 804,096 * 4`",
        "`= 3,216,384 bytes`",
        "Kind: exact",
        "Source: one stored number per parameter",
    ]


def test_a_sum_shows_the_rules_of_its_parts():
    layer = total("a layer", [WEIGHTS], source="s")
    lines = explanation(total("two layers", [layer, layer], source="s")).split("\n\n")

    assert lines[0] == "`a_layer + a_layer`"
    assert lines[3:5] == ["`weights = num_params * 4 = 804,096 * 4`"] * 2
    many = explanation(total("many", [WEIGHTS] * 20, source="s"))
    assert many.count("num_params * 4") == 8


def test_an_estimate_shows_its_band():
    item = Item(name="t", amount=60.0, unit="s", low=50, high=70, source="h", kind="estimated")
    assert "Between 50.0 s and 1 min 10 s" in explanation(item)
    assert "Kind: estimated" in explanation(item)


@pytest.mark.parametrize(
    ("amount", "unit", "expected"),
    [
        (3_216_384, "bytes", "3.07 MiB"),
        (804_096, "parameters", "804 k"),
        (3.66e9, "FLOPs", "3.66 GFLOPs"),
        (65, "s", "1 min 05 s"),
    ],
)
def test_a_number_is_written_in_its_unit(amount, unit, expected):
    assert written(amount, unit) == expected


def test_a_unit_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="unit 'apples' is not known; use one of: bytes"):
        written(1, "apples")


def test_the_page_follows_the_unit_switch(open_script):
    source = f"from core.budget import Formula, Item\nexplained_number('Weights', {WEIGHTS!r})"
    app = open_script(source)
    assert app.metric[0].value == "3.07 MiB"
    assert app.metric[0].label == "Weights :gray[· exact]"
    assert "804,096 * 4" in app.metric[0].help
    app.button_group(key="units_choice").set_value("GB").run()
    assert app.metric[0].value == "3.22 MB"


def test_the_headline_is_shown_with_its_units_beside_their_numbers(open_script):
    app = open_script("from pages.shared.answer import headline\nheadline('It takes 182 GiB')")
    assert app.markdown[0].value == "It takes 182\N{NO-BREAK SPACE}GiB"
    assert app.session_state["headline"] == "It takes 182 GiB"
