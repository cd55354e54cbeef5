"""The ladder of compute against printed numbers."""

import pytest

from core.budget.compute.flop_ladder import flop_ladder, machine_flops

PRINTED = {
    "a matmul on a laptop: 1024 × 256 times 256 × 64": 33_554_432,
    "a matmul of 4096 × 4096 matrices": 137.4e9,
    "a layer on a GPU: 16384 × 32768 times 32768 × 8192": 8.796e12,
    "8 H100 for two weeks at their peak": 9.575e21,
    "training GPT-3 175B": 3.14e23,  # Brown et al. 2020, table D.1
    "training DeepSeek-V3, 37 B active": 3.29e24,
    "training Llama-3.1 405B": 3.8e25,  # Grattafiori et al. 2024
}


def test_rungs_are_those_that_were_printed():
    rungs = {rung.name: rung for rung in flop_ladder()}
    for name, printed in PRINTED.items():
        assert rungs[name].amount == pytest.approx(printed, rel=0.005), name


def test_the_ladder_rises_and_every_rung_has_a_source():
    amounts = [rung.amount for rung in flop_ladder()]
    assert amounts == sorted(amounts)
    assert len(amounts) >= 10
    assert all(rung.source and rung.unit == "FLOPs" for rung in flop_ladder())


def test_what_others_say_is_claimed_a_law_is_exact_and_a_peak_is_a_bound():
    kinds = {rung.name: rung.kind for rung in flop_ladder()}
    assert kinds["training GPT-4, as outsiders estimate"] == "claimed"
    assert kinds["EU AI Act: a model of systemic risk"] == "exact"
    assert kinds["8 H100 for two weeks at their peak"] == "bound"
    assert kinds["training GPT-3 175B"] == "estimated"
    assert kinds["a matmul of 4096 × 4096 matrices"] == "exact"


def test_a_share_of_the_peak_is_no_bound_but_an_estimate_with_a_band():
    whole, part = machine_flops(8, 14, 1e15), machine_flops(8, 14, 1e15, share=0.4)
    assert (whole.kind, whole.low, whole.high) == ("bound", whole.amount, whole.amount)
    assert part.kind == "estimated"
    assert part.low < part.amount < part.high < whole.amount
