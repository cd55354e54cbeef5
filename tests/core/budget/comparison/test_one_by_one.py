"""One choice after the other: the steps add up, and what cannot stand alone waits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.budget import Formula
from core.budget.comparison.one_by_one import one_by_one
from core.budget.comparison.scenario import named_scenario
from core.budget.item import item
from core.budget.recipe import TrainingRecipe

TOKENS = Formula("num_layers * num_tokens / tensor")


def measure(scenario):
    if scenario.cluster.tensor > scenario.spec.num_heads:
        raise ValueError("more tensor ranks than heads")
    values = {
        "num_layers": scenario.spec.num_layers,
        "num_tokens": scenario.recipe.num_tokens,
        "tensor": scenario.cluster.tensor,
    }
    return item("tokens", TOKENS, values, unit="tokens", source="a test")


@st.composite
def scenarios(draw):
    recipe = TrainingRecipe(
        batch_size=draw(st.integers(1, 8)), seq_len=draw(st.sampled_from([1024, 4096]))
    )
    tensor = draw(st.sampled_from([1, 2, 4]))
    model = draw(st.sampled_from(["gpt2", "llama-2-7b"]))
    return named_scenario(model, "t4", recipe, {"num_devices": tensor, "tensor": tensor})


@given(scenarios(), scenarios())
def test_the_steps_lead_from_the_first_to_the_last_without_a_gap(first, last):
    steps = one_by_one(first, last, measure)
    amounts = [measure(first).amount, *(step.after.amount for step in steps)]
    assert [step.before.amount for step in steps] == amounts[:-1]
    assert amounts[-1] == measure(last).amount
    changed = [name for name, value in first.choices.items() if last.choices[name] != value]
    assert [name for step in steps for name in step.names] == changed


def test_a_choice_that_needs_another_makes_one_step_with_it():
    whole = named_scenario("llama-2-7b", "t4", None, {"num_devices": 8, "tensor": 8})
    small = named_scenario("llama-2-7b", "t4", None, {"num_devices": 2, "tensor": 2})
    assert [step.names for step in one_by_one(small, whole, measure)] == [
        ("num_devices",),
        ("tensor",),
    ]
    assert [step.names for step in one_by_one(whole, small, measure)] == [("num_devices", "tensor")]


def test_equal_scenarios_are_no_step_apart():
    scenario = named_scenario("gpt2", "t4")
    assert one_by_one(scenario, scenario, measure) == ()


def test_a_scenario_without_a_budget_is_refused():
    good = named_scenario("gpt2", "t4")
    bad = named_scenario("gpt2", "t4", None, {"num_devices": 16, "tensor": 16})
    with pytest.raises(ValueError, match="more tensor ranks than heads"):
        one_by_one(good, bad, measure)
