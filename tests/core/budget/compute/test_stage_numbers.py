from core.budget.compute.stage_numbers import stage_bytes, stage_flops
from core.models.walk import walk
from tests.core.models.small_models import SHAPE, small_model, some_ids


def test_formulas_give_the_bytes_and_flops_of_every_stage():
    stages = walk(small_model("gpt"), some_ids(7, batch=2))
    for stage in stages:
        assert stage_bytes(stage, SHAPE).amount == stage.num_bytes, stage.name
        assert stage_flops(stage, SHAPE).amount == stage.flops, stage.name
    assert any(stage.flops for stage in stages)


def test_a_formula_names_the_axes_of_the_equation():
    stages = {stage.name: stage for stage in walk(small_model("gpt"), some_ids(7))}
    scores = stages["blocks.0.attention.scores"]
    assert stage_flops(scores, SHAPE).formula == "2 * B * H * T * D * S"
    assert stage_bytes(scores, SHAPE).formula == "B * H * T * S * item_bytes"
    heads = stages["blocks.0.attention.heads"]
    assert stage_bytes(heads, SHAPE).formula == "num_tensors * B * H * T * D * item_bytes"
