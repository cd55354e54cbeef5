"""What must hold between budgets, whatever the numbers: parameters, FLOPs, serving, training."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.budget.by_hand.rules import flops_rule, state_rule
from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import Cluster
from core.budget.compute.block_operations import op_intensities
from core.budget.compute.chinchilla import best_params, best_tokens
from core.budget.compute.forward_flops import forward_flops
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.fits.matrix import lines
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.recipe import CHECKPOINTING, TrainingRecipe
from core.budget.serving.kv_cache import kv_cache
from core.budget.serving.latency import decode_latency, prefill_latency
from core.budget.serving.memory import inference_budget, serving_memory
from core.budget.share import shares, whole
from core.budget.training.duration import cost, training_time
from core.budget.training.memory import training_budget
from core.budget.weights.parameters import active_parameters, count_parameters, counts, share_counts
from tests.core.budget.random_budgets import check_tree, clusters, plans, recipes, specs

pytestmark = pytest.mark.slow
ALONE = Cluster(device=DEVICES["h100-sxm"])
few = settings(max_examples=40)


@few
@given(st.data(), specs(), recipes(), plans())
def test_every_number_keeps_the_rules_of_a_tree_and_its_formula_gives_it_again(
    data, spec, recipe, plan
):
    cluster = data.draw(clusters(spec, recipe))
    check_tree(count_parameters(spec))
    check_tree(active_parameters(spec))
    check_tree(forward_flops(spec, recipe.num_tokens, recipe.seq_len))
    check_tree(forward_flops(spec, recipe.num_tokens, recipe.seq_len, causal=True))
    check_tree(step_flops(spec, recipe))
    check_tree(kv_cache(spec, plan.context, plan.concurrency, plan.kv_format))
    check_tree(serving_memory(spec, plan))
    check_tree(inference_budget(spec, plan, ALONE).item)
    check_tree(prefill_latency(spec, plan, ALONE), has_bands=False)
    check_tree(decode_latency(spec, plan, ALONE))
    check_tree(communication(spec, recipe, cluster))
    check_tree(exposed_seconds(spec, recipe, cluster))
    check_tree(training_time(spec, recipe, ALONE, num_tokens=10**9, mfu=0.4))
    check_tree(training_time(spec, recipe, cluster, num_tokens=10**9, mfu=0.4))


@few
@given(st.floats(1e15, 1e28), st.integers(10**6, 10**13), st.integers(10**6, 10**15))
def test_rules_of_thumb_keep_them_too(flops, num_params, num_tokens):
    check_tree(flops_rule(num_params, num_tokens))
    check_tree(state_rule(num_params))
    check_tree(best_params(flops))
    check_tree(best_tokens(flops))
    check_tree(cost(8, flops / 1e15, 2.5))


@given(specs())
def test_one_rank_that_holds_everything_is_the_whole_model(spec):
    assert share_counts(spec, whole(spec)) == counts(spec)
    assert shares(spec, ALONE) == (whole(spec),)
    assert active_parameters(spec).amount <= count_parameters(spec).amount == counts(spec).total


@given(st.data(), specs())
def test_a_rank_never_holds_more_than_the_whole_and_all_ranks_hold_at_least_it(data, spec):
    cluster = data.draw(clusters(spec))
    everything = counts(spec)
    found = [share_counts(spec, share) for share in shares(spec, cluster)]
    assert all(0 < each.total <= everything.total for each in found)
    together = cluster.tensor * cluster.expert * sum(each.total for each in found)
    assert together >= everything.total


@given(specs(), recipes())
def test_one_more_layer_or_token_never_costs_less(spec, recipe):
    deeper = replace(spec, num_layers=spec.num_layers + 1)
    longer = replace(recipe, seq_len=2 * recipe.seq_len)
    wider = replace(recipe, batch_size=recipe.batch_size + 1)
    flops = step_flops(spec, recipe).amount
    assert counts(deeper).total > counts(spec).total
    assert step_flops(deeper, recipe).amount > flops
    assert step_flops(spec, longer).amount > 2 * flops
    assert step_flops(spec, wider).amount > flops
    assert model_flops(step_flops(spec, recipe)).amount <= flops


@given(specs(), recipes())
def test_micro_batches_add_up(spec, recipe):
    one = step_flops(spec, replace(recipe, accumulation=1)).amount
    assert step_flops(spec, replace(recipe, accumulation=4)).amount == 4 * one


@given(specs(), plans())
def test_serving_more_sequences_or_longer_ones_never_takes_less(spec, plan):
    here = serving_memory(spec, plan).amount
    for change in (
        {"concurrency": 2 * plan.concurrency},
        {"prompt_len": plan.prompt_len + 100},
        {"output_len": plan.output_len + 100},
    ):
        assert serving_memory(spec, replace(plan, **change)).amount >= here, change
    deeper = replace(spec, num_layers=spec.num_layers + 1)
    assert serving_memory(deeper, plan).amount > here
    cache = kv_cache(spec, plan.context, 1, plan.kv_format).amount
    assert kv_cache(spec, plan.context, 3, plan.kv_format).amount == 3 * cache


@given(st.data(), specs(), recipes())
def test_one_device_sends_nothing_and_more_overlap_never_takes_longer(data, spec, recipe):
    assert communication(spec, recipe, ALONE).amount == 0
    cluster = data.draw(clusters(spec, recipe))
    slow = exposed_seconds(spec, recipe, replace(cluster, overlap=0.0)).amount
    assert exposed_seconds(spec, recipe, replace(cluster, overlap=1.0)).amount == 0
    assert exposed_seconds(spec, recipe, cluster).amount <= slow


@few
@given(specs(), st.integers(1, 8192), st.sampled_from(["prefill", "decode"]))
def test_every_operation_of_a_block_moves_bytes(spec, context, phase):
    for operation in op_intensities(spec, context, batch_size=2, phase=phase):
        check_tree(operation.flops)
        check_tree(operation.moved)


def budget(spec, recipe, cluster=ALONE):
    return training_budget(spec, recipe, cluster)


def amount(spec, recipe, cluster=ALONE):
    return budget(spec, recipe, cluster).item.amount


@given(st.data(), specs(), recipes(lora=True))
def test_every_training_budget_keeps_the_rules_of_a_tree(data, spec, recipe):
    cluster = data.draw(clusters(spec, recipe))
    found = budget(spec, recipe, cluster)
    check_tree(found.item)
    assert len(found.stages) == cluster.pipeline
    for stage in found.stages:
        check_tree(stage)
        assert sum(part.amount for part in lines(stage)) == pytest.approx(stage.amount)
    assert found.item.amount == found.largest.amount


@given(specs(), recipes(lora=True))
def test_more_sequences_longer_ones_or_more_layers_never_take_less(spec, recipe):
    here = amount(spec, recipe)
    for change in ({"batch_size": recipe.batch_size + 1}, {"seq_len": recipe.seq_len + 64}):
        assert amount(spec, replace(recipe, **change)) >= here, change
    # a last group of fewer blocks is recomputed in less: whole groups are compared
    more = recipe.checkpoint_every if recipe.checkpointing == "every_k" else 1
    assert amount(replace(spec, num_layers=spec.num_layers + more), recipe) > here


@given(specs(), recipes(), st.permutations(CHECKPOINTING))
def test_what_was_asked_before_changes_no_budget(spec, recipe, order):
    """Two models that differ in name only, so that nothing kept for the one serves the other."""
    ways = [replace(recipe, checkpointing=way) for way in CHECKPOINTING]
    expected = [amount(spec, way) for way in ways]
    twin = replace(spec, name="its twin")
    found = {way: amount(twin, replace(recipe, checkpointing=way)) for way in order}
    assert [found[way] for way in CHECKPOINTING] == expected


@given(specs(), recipes())
def test_keeping_only_the_inputs_of_blocks_takes_at_most_these_more(spec, recipe):
    kept = amount(spec, replace(recipe, checkpointing="none"))
    least = budget(spec, replace(recipe, checkpointing="full")).item
    inputs = max(part.amount for part in least.walk() if part.name == "block inputs")
    # scores that are written again meet the head's gradient and what has come back to the block,
    # which they did not in the forward pass
    came_back = spec.vocab_size + recipe.num_tokens
    head = 4 * spec.hidden_dim * came_back if recipe.profile == "megatron" else 0
    angles = 2 * 4 * recipe.seq_len * spec.head_dim  # sines and cosines of the positions
    assert least.amount <= kept + 1.05 * (inputs + head + angles) + 4096


@given(st.data(), specs(), recipes())
def test_a_rank_never_holds_more_states_than_the_whole(data, spec, recipe):
    cluster = data.draw(clusters(spec, recipe))
    alone = budget(spec, recipe).item
    for stage in budget(spec, recipe, cluster).stages:
        for name in ("weights", "optimizer"):
            assert part_of(stage, name) <= part_of(alone, name), name
        if cluster.pipeline == 1:
            kept, forward = end_of_forward(stage).child("activations"), end_of_forward(alone)
            # where the forward pass itself needs more than it keeps, that alone is counted
            assert kept.amount <= (forward.child("activations").amount or forward.amount)


def end_of_forward(tree):
    return next(part for part in tree.walk() if part.name == "end of forward")


def part_of(tree, name):
    return sum(part.amount for part in lines(tree) if part.name == name)


@given(specs(), recipes())
def test_replicas_hold_what_one_device_holds_and_sharding_never_holds_more(spec, recipe):
    stages = [
        budget(spec, recipe, replace(ALONE, num_devices=8, zero_stage=stage)).item
        for stage in range(4)
    ]
    alone = budget(spec, recipe).item
    for name in ("weights", "optimizer"):
        assert part_of(stages[0], name) == part_of(alone, name)
        held = [part_of(stage, name) for stage in stages]
        assert held == sorted(held, reverse=True), name


@given(specs(("dense",)), st.integers(2, 64))
def test_zero_shares_sixteen_bytes_out_as_its_paper_says(spec, ranks):
    """Rajbhandari et al. 2020, figure 1: 4 + 12/N, 2 + 14/N, 16/N bytes for each parameter."""
    recipe = TrainingRecipe(precision="mixed_bf16", step_kind="fused", checkpointing="full")
    expected = (16, 4 + 12 / ranks, 2 + 14 / ranks, 16 / ranks)
    for stage, per_param in enumerate(expected):
        cluster = replace(ALONE, num_devices=ranks, zero_stage=stage)
        tree = budget(spec, recipe, cluster).item
        fixed = part_of(tree, "weights") + part_of(tree, "optimizer")
        step = next(part for part in tree.walk() if part.name == "optimizer step")
        gradients = step.child("gradients").amount
        assert fixed + gradients == pytest.approx(per_param * counts(spec).total, rel=0.02), stage


@given(specs(), recipes())
def test_a_tied_head_is_stored_once(spec, recipe):
    assume(recipe.optimizer not in {"adafactor", "muon"})
    tied = budget(replace(spec, tied=True), recipe).item
    untied = budget(replace(spec, tied=False), recipe).item
    head = spec.vocab_size * spec.hidden_dim
    per_param = part_of(tied, "weights") / counts(replace(spec, tied=True)).total
    assert part_of(untied, "weights") - part_of(tied, "weights") == pytest.approx(head * per_param)
