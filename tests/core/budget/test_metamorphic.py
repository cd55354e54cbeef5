"""What must hold between budgets, whatever the numbers: parameters, FLOPs, serving, traffic."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.parameters import (
    active_parameters,
    count_parameters,
    counts,
    share_counts,
)
from core.budget.cluster import Cluster
from core.budget.compute.block_operations import op_intensities
from core.budget.compute.chinchilla import best_params, best_tokens, predicted_loss
from core.budget.compute.cost import cost
from core.budget.compute.flops import model_flops, step_flops
from core.budget.compute.forward_flops import forward_flops
from core.budget.compute.training_time import training_time
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.parallel.share import whole
from core.budget.parallel.shares import shares
from core.budget.rules import flops_rule, state_rule
from core.budget.serving.inference_budget import inference_budget
from core.budget.serving.kv_cache import kv_cache
from core.budget.serving.serving_memory import serving_memory
from core.budget.serving.serving_time import decode_latency, prefill_latency
from tests.core.budget.random_budgets import check_tree, clusters, plans, recipes, specs

ALONE = Cluster(device=DEVICES["h100-sxm"])
few = settings(max_examples=40)


@few
@given(st.data(), specs(), recipes(), plans())
def test_every_number_keeps_the_rules_of_a_tree_and_its_formula_gives_it_again(
    data, spec, recipe, plan
):
    cluster = data.draw(clusters(spec))
    check_tree(count_parameters(spec))
    check_tree(active_parameters(spec))
    check_tree(forward_flops(spec, recipe.num_tokens, recipe.seq_len))
    check_tree(forward_flops(spec, recipe.num_tokens, recipe.seq_len, causal=True))
    check_tree(step_flops(spec, recipe))
    check_tree(kv_cache(spec, plan.context, plan.concurrency, plan.kv_format))
    check_tree(serving_memory(spec, plan))
    check_tree(inference_budget(spec, plan, ALONE).item)
    check_tree(prefill_latency(spec, plan, ALONE))
    check_tree(decode_latency(spec, plan, ALONE))
    check_tree(communication(spec, recipe, cluster))
    check_tree(exposed_seconds(spec, recipe, cluster))
    check_tree(training_time(spec, recipe, ALONE, num_tokens=10**9, mfu=0.4))


@few
@given(st.floats(1e15, 1e28), st.integers(10**6, 10**13), st.integers(10**6, 10**15))
def test_rules_of_thumb_keep_them_too(flops, num_params, num_tokens):
    check_tree(flops_rule(num_params, num_tokens))
    check_tree(state_rule(num_params))
    check_tree(best_params(flops))
    check_tree(best_tokens(flops))
    check_tree(predicted_loss(num_params, num_tokens))
    check_tree(cost(8, flops / 1e15, 2.5))


@given(specs())
def test_a_tied_head_counts_once(spec):
    tied, untied = replace(spec, tied=True), replace(spec, tied=False)
    assert counts(untied).total - counts(tied).total == spec.vocab_size * spec.hidden_dim
    assert counts(tied).head == 0


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
def test_a_causal_mask_never_adds_flops_and_backward_is_twice_forward(spec, recipe):
    full = step_flops(spec, recipe)
    assert step_flops(spec, recipe, causal=True).amount <= full.amount
    assert full.child("backward").amount == 2 * full.child("forward").amount


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
    cluster = data.draw(clusters(spec))
    slow = exposed_seconds(spec, recipe, replace(cluster, overlap=0.0)).amount
    assert exposed_seconds(spec, recipe, replace(cluster, overlap=1.0)).amount == 0
    assert exposed_seconds(spec, recipe, cluster).amount <= slow


@few
@given(specs(), st.integers(1, 8192), st.sampled_from(["prefill", "decode"]))
def test_every_operation_of_a_block_moves_bytes(spec, context, phase):
    for operation in op_intensities(spec, context, batch_size=2, phase=phase):
        check_tree(operation.flops)
        check_tree(operation.moved)
