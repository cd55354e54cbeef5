"""Plans: the fewest devices and the changes, held against brute force over random plans."""

from dataclasses import replace
from random import Random

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.fits import solve
from core.budget.planning.changes import GROUPS, chain, changes, every_change, proposals, savings
from core.budget.planning.jobs import PlannedJob, one_group, way_of, ways_of
from core.budget.planning.plan import (
    MOST_DEVICES,
    Plan,
    counts,
    counts_around,
    fewest_devices,
    possible_counts,
)
from core.budget.planning.speed import plan_cost, plan_mfu, plan_seconds
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.memory import serving_memory
from core.budget.serving.plan import ServingPlan
from core.budget.training.duration import reached_mfu
from core.budget.training.memory import training_budget

MODEL_KEYS = ("gpt2-xl", "llama-3.2-3b", "llama-3.1-8b", "llama-2-13b", "llama-3.1-70b")
DEVICE_KEYS = ("rtx-4090", "a100-40gb", "h100-sxm", "h200-sxm")


def plan_of_70b(**changed):
    recipe = TrainingRecipe(batch_size=1, seq_len=8192, checkpointing="full", step_kind="fused")
    cluster = Cluster(device=DEVICES["h100-sxm"], num_devices=16, zero_stage=3)
    return Plan(
        **{"spec": MODELS["llama-3.1-70b"], "cluster": cluster, "recipe": recipe, **changed}
    )


def random_plan(seed):
    random = Random(seed)  # noqa: S311  no secret
    choose = random.choice
    tensor = choose((1, 1, 1, 2, 4))
    cluster = Cluster(
        device=DEVICES[choose(DEVICE_KEYS)],
        num_devices=tensor * choose((1, 2, 4, 8)),
        tensor=tensor,
        sequence_parallel=choose((False, True)),
        zero_stage=choose((0, 1, 2, 3, 3)),
    )
    recipe = TrainingRecipe(
        batch_size=choose((1, 2, 4)),
        seq_len=choose((1024, 2048, 4096, 8192)),
        precision=choose(("mixed_bf16", "mixed_bf16", "pure_bf16", "fp32")),
        optimizer=choose(("adamw", "adam8bit", "sgd")),
        checkpointing=choose(("none", "selective", "full")),
        loss_chunks=choose((1, 8)),
        step_kind="fused",
        lora=choose((None, None, None, LoRA())),
    )
    spec = MODELS[choose(MODEL_KEYS)]
    recipe = replace(recipe, seq_len=min(recipe.seq_len, spec.seq_len))
    serving = ServingPlan(prompt_len=choose((512, 2048, 8192)), concurrency=choose((1, 4, 32, 256)))
    work = choose(("train", "train", "train", "serve"))
    return Plan(spec=spec, cluster=cluster, recipe=recipe, serving=serving, work=work)


def possible(plan):
    try:
        plan.need  # noqa: B018
    except ValueError:
        return False
    return True


PLANS = [plan for plan in map(random_plan, range(230)) if possible(plan)]


def test_the_random_plans_are_many_and_of_every_verdict_and_work():
    assert len(PLANS) >= 200
    assert {plan.work for plan in PLANS} == {"train", "serve"}
    assert {plan.verdict for plan in PLANS} == {"fits", "close", "too_big"}


def test_the_fewest_devices_fit_and_the_next_smaller_valid_count_does_not():
    found = 0
    for plan in PLANS:
        fewest = fewest_devices(plan)
        most = fewest.fits.num_devices if fewest.fits else MOST_DEVICES
        tried = [*counts(plan, possible_counts(plan, most))]
        verdicts = [each.verdict for each in tried]
        assert verdicts.count("fits") == (fewest.fits is not None), plan
        if fewest.fits is not None:
            found += 1
            assert verdicts[-1] == "fits", plan
        if fewest.borderline is not None:
            assert plan.on(fewest.borderline.num_devices).verdict == "close", plan
    assert found > 100


def test_a_valid_count_keeps_the_global_batch_the_split_and_whole_nodes():
    plan = plan_of_70b(cluster=replace(plan_of_70b().cluster, tensor=4))
    for number in possible_counts(plan):
        here = plan.on(number)
        assert number % 4 == 0
        assert number <= 8 or number % 8 == 0
        step = here.accumulated.accumulation * here.cluster.data * plan.recipe.num_tokens
        assert step == plan.step_tokens
    assert 40 not in possible_counts(plan_of_70b())  # 192 sequences
    assert max(possible_counts(plan_of_70b())) == 192 < MOST_DEVICES


def test_every_change_says_what_the_whole_budget_of_the_changed_plan_says():
    for plan in PLANS[:60]:
        for change in every_change(plan):
            other = change.plan
            if other.work == "train":
                steps = -(-other.step_tokens // (other.cluster.data * other.recipe.num_tokens))
                recipe = replace(other.recipe, accumulation=steps)
                whole = training_budget(other.spec, recipe, other.cluster)
                expected, verdict = whole.largest.amount, whole.verdict
            else:
                serving = replace(other.serving, tensor=other.cluster.num_devices)
                if serving.context > other.spec.seq_len:
                    continue
                expected = serving_memory(other.spec, serving).amount
                verdict = other.verdict
            assert change.need.amount == expected, change.name
            assert change.verdict == verdict, change.name


def test_what_is_offered_fits_and_nothing_earlier_in_the_list_would_do():
    held = 0
    for plan in PLANS:
        if plan.verdict == "fits":
            assert changes(plan) == () == chain(plan)
            continue
        held += 1
        would_do, seen = [], set()
        for name, group, value, other in proposals(plan):
            if name not in seen and possible(other) and other.verdict == "fits":
                would_do.append((name, group, value))
                seen.add(name)
        offered = changes(plan)
        assert [(each.name, each.group, each.value) for each in offered] == would_do
        places = [list(GROUPS).index(each.group) for each in offered]
        assert places == sorted(places)
    assert held >= 50


def test_a_chain_leads_from_the_plan_to_one_that_fits_step_by_step():
    for plan in PLANS[::3]:
        before = plan
        steps = chain(plan)
        for step in steps:
            assert step.need.amount == step.plan.need.amount
            assert step.group == "devices" or step.need.amount < before.need.amount
            before = step.plan
        if before.verdict != "fits":
            left = {each.name for each in every_change(before)} - {each.name for each in steps}
            assert not left, plan


def test_what_is_left_over_is_used_by_plans_that_still_fit():
    used = 0
    for plan in PLANS:
        for change in savings(plan):
            used += 1
            assert plan.need.amount <= plan.cluster.device.memory_usable / 2
            assert change.plan.verdict == "fits"
            assert change.need.amount == change.plan.need.amount
    assert used > 10


def test_llama_70b_on_16_h100_is_borderline_on_24_and_fits_on_32():
    plan = plan_of_70b()
    fewest = fewest_devices(plan)
    assert plan.verdict == "too_big"
    assert fewest.borderline.num_devices == 24
    assert round(fewest.borderline.need.amount / 2**30, 1) == 77.0
    assert fewest.fits.num_devices == 32
    assert [each.num_devices for each in counts_around(plan, fewest)] == [8, 16, 24, 32, 64]


def test_more_devices_than_the_global_batch_has_sequences_are_no_answer():
    plan = plan_of_70b(spec=MODELS["llama-3.1-405b"], cluster=plan_of_70b().cluster)
    fewest = fewest_devices(plan)
    assert fewest.fits is None
    assert fewest.largest.num_devices == 192


def test_time_follows_from_the_mfu_and_cost_from_the_time():
    plan = plan_of_70b(price_per_hour=2.5).on(32)
    mfu = plan_mfu(plan)
    assert mfu.low < mfu.amount < mfu.high < 0.5  # a full recompute costs a quarter
    seconds = plan_seconds(plan, mfu)
    again = reached_mfu(plan.spec, plan.accumulated, plan.cluster, plan.num_tokens, seconds.amount)
    assert again.amount == pytest.approx(mfu.amount)
    assert seconds.low < seconds.amount < seconds.high
    assert plan_cost(plan, seconds).amount == pytest.approx(32 * seconds.amount / 3600 * 2.5)


def test_a_pinned_mfu_is_what_the_time_follows_from():
    half, quarter = (
        plan_seconds(plan, plan_mfu(plan)).amount
        for plan in (plan_of_70b(mfu=0.5), plan_of_70b(mfu=0.25))
    )
    assert quarter == pytest.approx(2 * half)


def test_numbers_out_of_range_are_refused():
    for wrong in ({"work": "rest"}, {"step_tokens": 0}, {"mfu": 2.0}, {"num_tokens": 0}):
        with pytest.raises(ValueError, match=r"use one of|must lie between"):
            plan_of_70b(**wrong)


def test_experts_that_are_spread_need_as_many_ranks_from_the_fewest_devices_on():
    cluster = replace(plan_of_70b().cluster, num_devices=16, tensor=2, expert=4)
    plan = plan_of_70b(spec=MODELS["mixtral-8x7b"], cluster=cluster)
    assert one_group(plan).plan.num_devices == 8  # 4 data ranks of 2
    assert next(possible_counts(plan)) == 8
    assert [each.num_devices for each in counts(plan, possible_counts(plan))] == [
        *possible_counts(plan)
    ]
    ring = replace(plan, cluster=replace(cluster, tensor=1, context=2))
    assert one_group(ring).plan.num_devices == 4  # 2 replicas of 2 ranks


def test_how_training_is_split_says_nothing_of_serving():
    alone = plan_of_70b(spec=MODELS["llama-3.1-8b"], work="serve")
    split = replace(
        alone,
        cluster=replace(alone.cluster, num_devices=16, tensor=2, pipeline=2, virtual_stages=2,
                        context=2, expert=2, sequence_parallel=True),
    )  # fmt: skip
    assert fewest_devices(split).fits == fewest_devices(alone).fits
    assert fewest_devices(split).fits.num_devices == one_group(split).plan.num_devices == 1


def test_the_longest_sequence_is_one_that_the_context_ranks_can_share():
    cluster = replace(plan_of_70b().cluster, num_devices=64, context=64)
    plan = plan_of_70b(spec=MODELS["llama-3.1-8b"], cluster=cluster)
    longest = solve.largest_that_fits(plan.spec, PlannedJob(plan), cluster.device, "tokens")
    assert longest.amount % 128 == 0 < longest.amount


def test_what_the_edges_have_found_gives_the_same_answer_as_a_search():
    num_compared = 0
    for plan in PLANS[::8]:
        spec, device, job = plan.spec, plan.cluster.device, PlannedJob(plan)
        any_size = job.sized("tokens", spec.seq_len).sized("sequences", 1)
        for edge in solve.edges(spec, any_size, device, (plan.num_devices,)):
            for tokens, known in solve.by_length(edge).items():
                case = (spec, job.sized("tokens", tokens), device, "sequences")
                assert solve.largest_that_fits(*case, known) == solve.largest_that_fits(*case), plan
                num_compared += 1
    assert num_compared > 50


def test_as_a_job_of_the_map_a_plan_keeps_its_split_and_says_what_binds_on_the_most_devices():
    """131,072 tokens on one device each: more devices share the states, not the activations."""
    recipe = replace(plan_of_70b().recipe, seq_len=131_072, checkpointing="selective")
    long = plan_of_70b(spec=MODELS["llama-3.1-8b"], recipe=recipe)
    spec, device = long.spec, long.cluster.device
    alone = solve.min_devices(spec, one_group(long), device, 1024)
    assert (alone.amount, alone.reason) == (0, "activations")
    ring = replace(long, cluster=replace(long.cluster, num_devices=32, context=32))
    shared = solve.min_devices(spec, one_group(ring), device, 1024)
    assert one_group(ring).plan.num_devices == 32 <= shared.amount
    assert shared.need == ring.on(shared.amount).need
    assert way_of(long) == "mixed" == way_of(ring)
    assert ways_of(long)["qlora"].plan.recipe.lora.base_format == "nf4_double_quant"
    odd = replace(long, recipe=replace(recipe, precision="fsdp2"))
    assert ways_of(odd)[way_of(odd)].plan.recipe == odd.recipe


def test_the_edges_of_a_plan_do_not_hang_on_its_own_length_and_batch():
    for work in ("train", "serve"):
        job = PlannedJob(plan_of_70b(work=work))
        other = job.sized("tokens", job.plan.spec.seq_len).sized("sequences", 1)
        device = job.plan.cluster.device
        found = solve.edges(job.plan.spec, job, device, (16, 32))
        assert found == solve.edges(job.plan.spec, other, device, (16, 32))
        assert any(any(edge.sequences) for edge in found)
