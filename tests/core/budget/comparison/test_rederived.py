"""What the published figures add to our budgets: parts that no recipe names."""

import pytest

from core.budget.comparison.published import published
from core.budget.comparison.rederived import (
    NUMBER,
    OWN_PARTS,
    allocated,
    ladder,
    reserved,
    saved_per_layer,
    scenario_of,
    step_down,
    without,
)
from core.budget.training.memory import training_budget
from tests.core.budget.comparison.test_difference import part, whole

INPUTS = {
    "model": "gpt2",
    "device": "t4",
    "recipe": {"batch_size": 2, "seq_len": 512, "profile": "megatron"},
}


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


def test_every_own_part_of_the_file_can_be_translated():
    for row in published().values():
        for each in row.inputs.get("also", ()):
            assert {each["name"], each["source"]} <= set(OWN_PARTS), row.slug


def test_one_layer_keeps_34_sbh_and_5_as2b():
    """Korthikanti et al. 2022, equation 1, for GPT-2's layer."""
    sbh = 2 * 512 * 768
    assert saved_per_layer(INPUTS).amount == pytest.approx(34 * sbh + 5 * 12 * 512**2 * 2, rel=5e-3)


def test_the_rungs_stand_in_the_published_order_and_only_the_first_has_no_figure_of_ours():
    rungs = ladder()
    assert [rung.published.slug for rung in rungs] == [
        slug for slug, row in published().items() if row.number == NUMBER
    ]
    assert [rung.slug for rung in rungs][:3] == ["baseline", "packed", "compiled"]
    assert [rung.ours is None for rung in rungs] == [True] + [False] * (len(rungs) - 1)


def test_every_rung_below_the_second_spares_memory_in_ours_as_in_the_published_figures():
    rungs = ladder()
    assert step_down(rungs, 0) is None
    assert step_down(rungs, 1) is None
    for place in range(2, len(rungs)):
        change = step_down(rungs, place)
        assert change.change < 0, rungs[place].slug
        assert rungs[place].published.value < rungs[place - 1].published.value
        assert sum(step.change for step in change.steps) == pytest.approx(change.change)


def test_each_technique_takes_away_what_its_name_says():
    def largest_step(slug):
        place = [rung.slug for rung in ladder()].index(slug)
        return min(step_down(ladder(), place).changed, key=lambda step: step.change).path

    assert largest_step("compiled") == ("activations",)
    assert largest_step("chunked-loss") == ("logits and loss",)
    assert largest_step("recomputed") == ("activations",)
    assert largest_step("step-in-backward") == ("gradients",)
    assert largest_step("offloaded") == ("activations",)
    assert largest_step("8-bit-states") == ("optimizer",)
    assert largest_step("qlora") == ("weights",)
