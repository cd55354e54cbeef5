"""The picture of components holds exactly the step that it is given."""

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.compute.step_flops import step_flops
from core.budget.recipe import TrainingRecipe
from core.figures.budget.flops_and_time.flop_bars import (
    LOOKS,
    flop_bars,
    flop_bars_alt,
    flop_bars_table,
    flop_rows,
)
from core.units import format_flops

FULL = TrainingRecipe(seq_len=8192, checkpointing="full", loss_chunks=2)


def test_every_component_of_every_model_has_a_look_and_the_rows_add_up_to_the_step():
    for key, spec in MODELS.items():
        for causal in (True, False):
            step = step_flops(spec, FULL, causal=causal)
            rows = list(flop_rows(step))
            assert {part for _phase, part, _amount in rows} <= set(LOOKS), key
            assert sum(amount for _phase, _part, amount in rows) == step.amount, key


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_bars_are_flops_stacked_by_phase(mode):
    step = step_flops(MODELS["llama-2-7b"], FULL)
    figure = flop_bars(step, mode, present=mode == "dark")
    total = sum(sum(trace.x) for trace in figure.data)
    assert total == step.amount
    forward = {trace.name: trace.x[0] for trace in figure.data if trace.y[0] == "forward"}
    assert forward["head"] == step.child("forward").child("head").amount
    assert figure.layout.barmode == "stack"
    assert figure.layout.annotations[0].text == f" {format_flops(step.child('forward').amount)}"


def test_the_sentence_and_the_table_name_the_numbers():
    step = step_flops(MODELS["llama-2-7b"], TrainingRecipe(seq_len=4096))
    text = flop_bars_alt(step)
    assert "forward 62.9 TFLOPs, backward 126 TFLOPs, extra work 4.40 TFLOPs" in text
    assert "feed-forward" in text
    table = flop_bars_table(step)
    assert len({len(column) for column in table.values()}) == 1
    assert table["component"].count("head") == 2
