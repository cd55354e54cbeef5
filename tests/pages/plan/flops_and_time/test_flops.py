"""The pictures of FLOPs hold exactly the steps and ratios that they are given."""

import pytest

from core.budget.by_hand.rules import two_layer_flops
from core.budget.catalogue.models import MODELS
from core.budget.compute.conventions import CONTEXTS, six_nd_ratio
from core.budget.compute.step_flops import step_flops
from core.budget.recipe import TrainingRecipe
from core.figures.picture import Look
from core.units import format_flops
from pages.plan.flops_and_time.breakdown import COMPONENT_LOOKS, components_picture, flop_rows
from pages.plan.flops_and_time.rule import Curve, rule_picture, two_layers_picture

FULL = TrainingRecipe(seq_len=8192, checkpointing="full", loss_chunks=2)


def test_every_component_of_every_model_has_a_look_and_the_rows_add_up_to_the_step():
    for key, spec in MODELS.items():
        for causal in (True, False):
            step = step_flops(spec, FULL, causal=causal)
            rows = flop_rows(step).values()
            assert {part for parts in rows for part in parts} <= set(COMPONENT_LOOKS), key
            assert sum(sum(parts.values()) for parts in rows) == step.amount, key


@pytest.mark.parametrize("look", [Look(), Look(mode="dark", present=True)])
def test_bars_are_flops_stacked_by_phase(look):
    step = step_flops(MODELS["llama-2-7b"], FULL)
    figure = components_picture(step, look).figure
    assert sum(sum(trace.x) for trace in figure.data) == step.amount
    forward = {trace.name: trace.x[0] for trace in figure.data if trace.y[0] == "forward"}
    assert forward["head"] == step.child("forward").child("head").amount
    assert figure.layout.barmode == "stack"
    assert figure.layout.annotations[0].text == f" {format_flops(step.child('forward').amount)}"


@pytest.mark.parametrize("needed", [True, False])
def test_every_product_of_two_layers_is_a_bar_a_row_and_named(needed):
    step = two_layer_flops(1024, 256, 64, input_needs_gradient=needed)
    picture = two_layers_picture(step, Look())
    forward, backward = picture.figure.data
    assert sum(forward.x) + sum(backward.x) == step.amount
    assert len(backward.x) == 3 + needed
    assert forward.name == "forward · 168 MFLOPs"
    assert "h = x @ w1 134 MFLOPs" in picture.alt
    assert picture.table["FLOPs"][:4] == ["134,217,728", *["33,554,432"] * 3]
    assert picture.table["FLOPs"][4:] == ["134,217,728"] * (1 + needed)


@pytest.fixture(scope="module")
def curves():
    return [
        Curve(
            name=MODELS[key].name,
            causal=[six_nd_ratio(MODELS[key], each, causal=True).amount for each in CONTEXTS],
            full=[six_nd_ratio(MODELS[key], each, causal=False).amount for each in CONTEXTS],
        )
        for key in ("llama-2-7b", "gpt2")
    ]


def test_lines_are_the_ratios_over_the_context(curves):
    figure = rule_picture(CONTEXTS, curves, 4, Look()).figure
    lines = {trace.name: list(trace.y) for trace in figure.data}
    assert lines["Llama-2 7B, causal"] == curves[0].causal
    assert lines["Llama-2 7B, full attention"] == curves[0].full
    assert lines["GPT-2"] == curves[1].causal
    assert lines["the rule 6ND"] == [1, 1]
    assert list(figure.data[-1].x) == [CONTEXTS[4]] * 2
