"""What the published figures add to our budgets: parts that no recipe names."""

import pytest

from core.budget.item import Formula, item, total
from core.budget.training.memory import training_budget
from tests.core.budget.comparison.published import published
from tests.core.budget.comparison.rederived import (
    allocated,
    rederive,
    reserved,
    saved_per_layer,
    scenario_of,
    without,
)

INPUTS = {
    "model": "gpt2",
    "device": "t4",
    "recipe": {"batch_size": 2, "seq_len": 512, "profile": "megatron"},
}


def part(name, amount):
    values = {"amount": amount}
    return item(name, Formula("amount"), values, unit="bytes", kind="exact", source="a test")


def whole(*parts, combine="sum", name="all"):
    return total(name, parts, source="a test", combine=combine)


def test_allocated_leaves_out_what_the_allocator_adds_and_reserved_has_it():
    scenario = scenario_of(INPUTS)
    tree = training_budget(scenario.spec, scenario.recipe, scenario.cluster).item
    reserve = tree.child("allocator reserve").amount
    assert allocated(INPUTS).amount == tree.amount - reserve
    assert reserved(INPUTS).amount == tree.amount
    assert (reserved(INPUTS).low, reserved(INPUTS).high) == (tree.low, tree.high)


def test_parts_are_taken_away_at_every_level_and_maxima_are_found_again():
    forward = whole(part("activations", 9), part("logits", 3), name="forward")
    step = whole(part("gradients", 11), name="step")
    tree = whole(whole(forward, step, combine="max", name="peak"), part("weights", 5))
    assert tree.amount == 17
    assert without(tree, {"logits"}).amount == 16
    assert without(tree, {"gradients"}).child("peak").amount == 12
    left = [each.name for each in without(tree, {"activations", "logits"}).walk()]
    assert left == ["all", "peak", "step", "gradients", "weights"]


def test_a_part_is_put_into_the_moments_that_its_row_names():
    own = {"name": "more", "formula": "num_tokens * 10**6", "source": "a test"}
    for moments, expected in ((["end of forward"], 1024 * 10**6), ([], 0)):
        more = allocated({**INPUTS, "also": [{**own, "moments": moments}]})
        assert more.amount - allocated(INPUTS).amount == pytest.approx(expected, rel=0.5), moments


def test_one_layer_keeps_34_sbh_and_5_as2b():
    """Korthikanti et al. 2022, equation 1, for GPT-2's layer."""
    sbh = 2 * 512 * 768
    assert saved_per_layer(INPUTS).amount == pytest.approx(34 * sbh + 5 * 12 * 512**2 * 2, rel=5e-3)


def test_every_technique_of_torchtune_s_ladder_spares_memory_in_ours_as_in_the_published_figures():
    rows = [row for slug, row in published().items() if slug.startswith("torchtune-")][1:]
    assert len(rows) > 7
    for amounts in ([row.value for row in rows], [rederive(row).amount for row in rows]):
        assert amounts == sorted(amounts, reverse=True)
