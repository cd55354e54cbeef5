"""The bounds: what a pass reads by tensors of torch, and what a bound takes for granted."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.claims.bounds import ASSUMES, assumed, least_pass_seconds
from core.budget.claims.claim import CLAIM_KINDS, CLAIMS, Claim
from core.budget.claims.reading import read_claim
from core.budget.claims.referee import rule
from core.models.build import build_model
from tests.core.budget.weights.test_stored import shallow

QWEN = Claim(
    kind="decode", device="rtx-3090", stated=200, model="qwen2.5-7b", weight_format="int4_group128"
)


def test_a_pass_reads_matrices_in_their_bits_and_the_head_in_16():
    """Qwen2.5 7B in int4 on an RTX 3090: 210.1 tokens/s, not 181.8 with the table's 16 bits."""
    spec = MODELS["qwen2.5-7b"]
    thin = build_model(shallow(spec, num_layers=1))
    quantized = sum(each.numel() for each in thin.blocks.parameters() if each.dim() == 2)
    others = sum(each.numel() for each in thin.blocks.parameters() if each.dim() == 1)
    wide = spec.num_layers * others + thin.head.weight.numel() + spec.hidden_dim
    num_bytes = spec.num_layers * quantized * (4 + 16 / 128) / 8 + 2 * wide

    bound = rule(QWEN).bound.amount

    assert bound == pytest.approx(936e9 / num_bytes, rel=1e-6)
    assert bound == pytest.approx(210.1, abs=0.05)
    said = "Qwen2.5 7B in int4 answers with 200 tokens/s on one RTX 3090"
    assert rule(read_claim(said)).verdict == "at_the_limit"


def test_a_tied_head_is_read_and_of_experts_those_of_one_token():
    for name, read in (("gemma-2-9b", 9.24e9), ("mixtral-8x7b", 12.75e9)):  # of 9.24 B and 46.7 B
        claim = replace(QWEN, model=name, weight_format="bfloat16", device="h200-sxm")
        moving = least_pass_seconds(claim, MODELS[name]).child("moving")
        assert moving.values["weight_bytes"] == pytest.approx(2 * read, rel=0.005), name


def test_a_prompt_needs_the_head_once_and_answers_need_it_each():
    spec = MODELS["llama-3.1-8b"]
    flops = {}
    for kind in ("forward", "decode"):
        claim = Claim(kind=kind, device="h100-sxm", model="llama-3.1-8b", num_tokens=10_000)
        computing = least_pass_seconds(claim, spec).child("computing").amount
        flops[kind] = computing * max(DEVICES["h100-sxm"].peak.values())
    head = 2 * spec.hidden_dim * spec.vocab_size
    assert flops["decode"] - flops["forward"] == pytest.approx(9999 * head, rel=1e-6)


def test_every_kind_of_claim_says_what_its_bound_assumes():
    assert set(ASSUMES) == set(CLAIM_KINDS)
    for claim in CLAIMS.values():
        assert "{" not in assumed(claim), claim.text
    assert "speculative decoding" in assumed(QWEN)
    assert "int4_group128" in assumed(QWEN)
    assert assumed(replace(QWEN, num_tokens=64)).startswith("concurrent sequences: 64")
