"""What can be compared: presets that are whole, and wishes that are refused in a sentence."""

import pytest

from core.budget.recipe import TrainingRecipe
from core.train.recipes.choices import AXES, NUM_VALIDATED, PRESETS, Comparison


def test_every_recipe_of_every_axis_is_a_run_and_a_budget():
    for axis, row in AXES.items():
        first = next(iter(row.options))
        for value in list(row.options)[1:]:
            comparison = Comparison(axis=axis, values=(first, value))
            for option in comparison.options:
                config = comparison.config(option)
                assert config.eval_batches * config.batch_size == NUM_VALIDATED, (axis, value)
                TrainingRecipe(**option.budget)


def test_recipes_of_a_preset_differ_in_its_axis_alone():
    for key, preset in PRESETS.items():
        comparison = preset.comparison
        first, *others = [comparison.config(option).to_json() for option in comparison.options]
        allowed = {"eval_batches", *comparison.options[0].run, *comparison.options[-1].run}
        for other in others:
            assert {name for name in first if first[name] != other[name]} <= allowed, key


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (("fp32",), "1 recipes"),
        (("fp32", "fp32"), "1 recipes"),
        (("fp32", "int3"), "'int3' is none of the recipes"),
        (("fp32", "bf16", "fp16", "pure_bf16", "pure_fp16"), "5 recipes"),
    ],
)
def test_too_few_too_many_and_unknown_recipes_are_refused(values, told):
    with pytest.raises(ValueError, match=told):
        Comparison(axis="precision", values=values)
