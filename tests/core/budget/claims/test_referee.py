"""The referee: errors of the course notes, measured speeds, and the bounds themselves."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.claims.claim import CLAIM_KINDS, CLAIMS, Claim
from core.budget.claims.referee import rule
from core.budget.weights.parameters import counts
from tests.core.budget.refusals import refused

EXPECTED = {
    "matmul-4090": "impossible",
    "70b-on-a-4090": "impossible",
    "13b-needs-80gb": "overstated",
    "70b-needs-four": "overstated",
    "13b-int8-on-a-4090": "possible",
    "32b-int4-on-a-4090": "possible",
    "7b-105-tokens": "possible",
    "7b-200-tokens": "impossible",
    "h100-1979": "impossible",
    "405b-31m-hours": "possible",
    "70b-in-a-week": "impossible",
}


def test_the_known_claims_are_ruled_as_the_corrections_say():
    assert {key: rule(claim).verdict for key, claim in CLAIMS.items()} == EXPECTED
    assert {claim.kind for claim in CLAIMS.values()} == set(CLAIM_KINDS)
    assert all(claim.text and claim.source for claim in CLAIMS.values())


def test_the_product_of_the_notes_would_need_2749_tflops():
    """137.4 GFLOP in 0.05 ms, on a device whose bf16 peak is 165.2 TFLOP/s (corrections, E10)."""
    ruling = rule(CLAIMS["matmul-4090"])
    assert ruling.bound.amount == pytest.approx(2 * 4096**3 / 165.2e12)
    assert ruling.ratio * 165.2e12 == pytest.approx(2749e12, rel=1e-3)


def test_a_small_product_is_bound_by_memory():
    claim = Claim(kind="matmul", device="h100-sxm", size=64, stated=1e-3)
    bound = rule(claim).bound
    assert bound.amount == bound.child("moving").amount > bound.child("computing").amount
    assert bound.amount == pytest.approx(3 * 64**2 * 2 / 3.35e12)


def test_what_does_not_fit_is_impossible_whatever_the_speed():
    slow = replace(CLAIMS["70b-on-a-4090"], stated=1e6)

    ruling = rule(slow)

    assert ruling.verdict == "impossible"
    assert ruling.ratio < 1
    assert ruling.misfit is not None
    assert ruling.misfit.amount / 2**30 == pytest.approx(128.5, abs=0.1)


def test_decoding_reads_the_weights_once_a_token():
    """gpt-fast's 104.9 tokens/s of Llama-2 7B are 68 % of an A100's bandwidth (budget.md, E29)."""
    ruling = rule(CLAIMS["7b-105-tokens"])
    spec = MODELS["llama-2-7b"]
    read = 2 * (counts(spec).total - spec.vocab_size * spec.hidden_dim)
    assert ruling.bound.amount == pytest.approx(2039e9 / read)
    assert ruling.ratio == pytest.approx(0.68, abs=0.005)


def test_many_sequences_share_one_reading_until_computing_takes_longer():
    one = rule(CLAIMS["7b-105-tokens"]).bound.amount
    for batch in (2, 8, 64):
        claim = replace(CLAIMS["7b-105-tokens"], num_tokens=batch)
        assert rule(claim).bound.amount == pytest.approx(batch * one), batch
    many = rule(replace(CLAIMS["7b-105-tokens"], num_tokens=100_000)).bound.amount
    assert many < 100_000 * one / 10


def test_published_gpu_hours_give_the_published_share_of_the_peak():
    """Llama 3.1 405B: 34.6 % of the dense peak over all its GPU hours (budget.md, E12)."""
    assert rule(CLAIMS["405b-31m-hours"]).ratio == pytest.approx(0.346, abs=0.002)


def test_needs_names_what_would_do():
    assert rule(CLAIMS["70b-needs-four"]).enough == ("a100-80gb", 2)
    key, count = rule(CLAIMS["13b-needs-80gb"]).enough
    assert count == 1
    assert DEVICES[key].memory_sold < 80 * 2**30
    assert "bfloat16" in DEVICES[key].peak
    alone = Claim(kind="needs", device="h100-sxm", num_devices=2, model="llama-3.1-70b")
    assert rule(alone).verdict == "possible"
    assert rule(alone).enough is None


def test_needs_that_are_not_even_enough_are_impossible():
    """The bf16 weights of a 70B model are 128 GiB; one H100 has 80."""
    ruling = rule(Claim(kind="needs", device="h100-sxm", model="llama-2-70b"))
    assert (ruling.verdict, ruling.enough) == ("impossible", None)
    assert ruling.misfit.amount / 2**30 == pytest.approx(128.5, abs=0.1)


def test_near_the_bound_is_at_the_limit():
    bound = rule(CLAIMS["7b-200-tokens"]).bound.amount
    for share, verdict in ((0.5, "possible"), (0.95, "at_the_limit"), (1.01, "impossible")):
        claim = replace(CLAIMS["7b-200-tokens"], stated=share * bound)
        assert rule(claim).verdict == verdict, share


def test_no_time_at_all_is_impossible():
    assert rule(Claim(kind="matmul", device="h100-sxm", stated=0)).ratio == float("inf")


def test_what_nobody_knows_or_says_nothing_possible_is_refused_in_a_sentence():
    claim = CLAIMS["7b-105-tokens"]
    refused(r"device is 'abacus'; use one of: t4", rule, replace(claim, device="abacus"))
    refused(r"model is 'gpt-5'; use one of: ", rule, replace(claim, model="gpt-5"))
    refused(r"weight_format is 'int3'; use one of", rule, replace(claim, weight_format="int3"))
    product = replace(claim, kind="matmul", dtype="fp4")
    refused(r"A100 SXM 80 GB has no peak for fp4; it multiplies", rule, product)
    refused(r"kind is 'dream'; use one of: matmul", replace, claim, kind="dream")
    refused(r"dtype is 'int3'; use one of", replace, claim, dtype="int3")
    refused(r"num_devices is 0; it must lie between 1", replace, claim, num_devices=0)
    refused(r"stated is -1.0; it must lie between 0", replace, claim, stated=-1.0)
    refused(r"size is 0; it must lie between 1", replace, claim, size=0)
    refused(r"num_tokens is 0; it must lie between 1", replace, claim, num_tokens=0)


def test_what_is_stated_is_claimed_and_what_holds_against_it_is_a_bound():
    for key, claim in CLAIMS.items():
        ruling = rule(claim)
        if claim.kind in {"fits", "needs"}:
            assert (ruling.stated.kind, ruling.bound.kind) == ("data sheet", "exact"), key
        else:
            assert (ruling.stated.kind, ruling.bound.kind) == ("claimed", "bound"), key
            assert {part.kind for part in ruling.bound.children} <= {"bound"}, key
