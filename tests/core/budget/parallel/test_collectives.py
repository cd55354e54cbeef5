"""Messages of a collective: their sum against the budget's bytes, their end against the ring."""

from collections import Counter

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.parallel.collectives import (
    NAMES,
    chunks,
    collective_of,
    collectives,
    nodes,
    parts_of_whole,
    turns,
)
from core.budget.parallel.communication import stage_communication, stage_transfers
from core.budget.parallel.ring import ring_all_reduce
from core.budget.recipe import TrainingRecipe
from core.budget.share import shares
from core.models.spec import Mixture
from tests.core.budget.parallel.held import PATTERNS, held_after
from tests.core.budget.test_share import model

SIZES = range(2, 65)


def spread(num_ranks, **split):
    return Cluster(device=DEVICES["h100-sxm"], num_devices=num_ranks, **split)


def spreads(num_ranks):
    """Yield a model and a cluster for each way to divide; between them, all collectives."""
    wide = model(
        num_layers=2 * num_ranks, hidden_dim=num_ranks * 8, num_heads=num_ranks,
        num_kv_heads=num_ranks,
        head_dim=8, ffn_dim=num_ranks * 16, vocab_size=num_ranks * 32,
    )  # fmt: skip
    for stage in range(4):
        yield wide, spread(num_ranks, zero_stage=stage)
    for sequence in (False, True):
        yield wide, spread(num_ranks, tensor=num_ranks, sequence_parallel=sequence)
    for virtual in (1, 2):
        yield wide, spread(num_ranks, pipeline=num_ranks, virtual_stages=virtual)
    yield wide, spread(num_ranks, context=num_ranks)
    experts = model(mixture=Mixture(num_experts=num_ranks, experts_per_token=2, expert_dim=64))
    yield experts, spread(num_ranks, expert=num_ranks)
    if num_ranks <= 32:
        yield experts, spread(num_ranks * 2, expert=num_ranks, zero_stage=3)


def sent(collective, rank):
    """Return what a rank sends in one call, message by message."""
    num_ranks = collective.num_ranks
    num_chunks = chunks(collective.pattern, num_ranks)
    moves = [move for turn in collective.turns for move in turn.moves(num_ranks, num_chunks)]
    return collective.num_bytes * sum(move.source == rank for move in moves)


def test_messages_of_every_collective_add_up_to_the_budgets_bytes_for_2_to_64_devices():
    seen = Counter()
    for num_ranks in SIZES:
        for spec, cluster in spreads(num_ranks):
            recipe = TrainingRecipe(seq_len=2 * num_ranks * 8, accumulation=num_ranks)
            held = shares(spec, cluster, recipe.accumulation)
            for number in sorted({0, len(held) // 2, len(held) - 1}):
                share = held[number]
                added = 0
                for transfer in stage_transfers(spec, recipe, cluster, share):
                    made = collective_of(transfer, cluster, share)
                    for rank in {made.rank, 1 if made.axis != "pipeline" else made.rank}:
                        total = made.times * sent(made, rank)
                        assert total == transfer.item.amount, (made.item.name, num_ranks, rank)
                    assert made.times * made.sent(len(made.turns)) == transfer.item.amount
                    added += total
                    seen[transfer.item.name] += 1
                whole = stage_communication(spec, recipe, cluster, share)
                assert added == whole.amount, (cluster, share)
    assert set(seen) == set(NAMES)
    assert min(seen.values()) >= len(SIZES)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_collective_ends_with_what_it_promises(pattern):
    for num_ranks in SIZES:
        held = held_after(pattern, turns(pattern, num_ranks), num_ranks)
        whole = parts_of_whole(pattern, num_ranks)
        finished = [[parts == whole for parts in row] for row in held]
        if pattern == "reduce-scatter":
            own = [[rank == chunk for chunk in range(num_ranks)] for rank in range(num_ranks)]
            assert finished == own, num_ranks
        else:
            assert all(map(all, finished)), num_ranks


def test_an_all_reduce_sends_what_the_ring_on_real_arrays_sends():
    """The ring begins one chunk further: its chunk c is chunk c - 1 here."""
    for num_ranks in range(2, 9):
        steps = ring_all_reduce([[1.0] * num_ranks] * num_ranks)[1:]
        done = turns("all-reduce", num_ranks)
        assert len(steps) == len(done)
        for number, (step, turn) in enumerate(zip(steps, done, strict=True)):
            there = {(s.source, s.target, (s.chunk - 1) % num_ranks) for s in step.sends}
            assert set(turn.moves(num_ranks, num_ranks)) == there, number
            counted = held_after("all-reduce", done[: number + 1], num_ranks)
            for rank, row in enumerate(step.ranks_in):
                shifted = [len(row[(chunk + 1) % num_ranks]) for chunk in range(num_ranks)]
                assert shifted == list(counted[rank]), (number, rank)


def test_in_no_turn_of_an_all_to_all_do_two_ranks_send_to_the_same():
    for num_ranks in SIZES:
        pairs = set()
        for turn in turns("all-to-all", num_ranks):
            moves = turn.moves(num_ranks, num_ranks)
            assert len({move.target for move in moves}) == num_ranks
            pairs |= {(move.source, move.target) for move in moves}
        assert len(pairs) == num_ranks * (num_ranks - 1)


@pytest.mark.parametrize("num_ranks", [1, 65])
def test_a_group_that_cannot_be_drawn_is_refused(num_ranks):
    with pytest.raises(ValueError, match="num_ranks"):
        turns("all-reduce", num_ranks)


def test_the_collectives_of_the_70b_run_come_largest_first_with_their_machines():
    cluster = Cluster(
        device=DEVICES["h100-sxm"], num_devices=64, tensor=8, pipeline=4, zero_stage=1,
        sequence_parallel=True,
    )  # fmt: skip
    found = collectives(MODELS["llama-3.1-70b"], TrainingRecipe(accumulation=8), cluster)
    amounts = [each.item.amount for each in found]
    assert amounts == sorted(amounts, reverse=True)
    by_axis = {each.axis: nodes(each, cluster) for each in found}
    assert len(set(by_axis["tensor"])) == 1
    assert by_axis["pipeline"] == (0, 2, 4, 6)
    assert len(set(by_axis["data"])) == 2
