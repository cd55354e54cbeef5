"""Masks, run by torch; what a row without keys becomes differs from route to route."""

import math

import pytest

from core.tensors.masks import KEEPS_TRUE, MaskSpec, run_mask


def spec(kind="tril", length=4, amount=0, route="sdpa", *, inverted=False):
    return MaskSpec(kind=kind, length=length, amount=amount, inverted=inverted, route=route)


@pytest.mark.parametrize("route", KEEPS_TRUE)
def test_the_weights_of_every_route_agree_with_what_is_seen(route):
    for kind in ("tril", "triu", "padding"):
        for inverted in (False, True):
            ran = run_mask(spec(kind, amount=1, route=route, inverted=inverted))
            for query, (seen, weights) in enumerate(zip(ran.seen, ran.weights, strict=True)):
                if query not in ran.empty:
                    wanted = [each / sum(seen) for each in seen]
                    assert weights == pytest.approx(wanted), (kind, inverted, query)


def test_the_causal_keep_mask_is_tril_and_the_causal_masked_out_is_its_inverse():
    keep = run_mask(spec())
    out = run_mask(spec("triu", amount=1, route="mha"))
    assert keep.seen == out.seen
    assert keep.num_future == out.num_future == 0
    assert run_mask(spec("triu")).num_future == 6


def test_a_row_without_keys_is_nan_by_hand_and_in_multihead_attention_but_0_in_sdpa():
    fused = run_mask(spec(amount=-1))
    assert (fused.empty, fused.num_nan) == ((0,), 0)
    assert fused.weights[0] == (0, 0, 0, 0)
    for route in ("mha", "softmax"):
        ran = run_mask(spec(amount=-1, route=route, inverted=True))
        assert (ran.empty, ran.num_nan) == ((0,), 1), route
        assert all(map(math.isnan, ran.weights[0])), route


def test_a_padding_mask_in_the_other_convention_sees_padding_alone():
    assert run_mask(spec("padding", amount=1)).num_padding == 0
    wrong = run_mask(spec("padding", amount=1, route="mha"))
    assert (wrong.num_padding, wrong.num_seen) == (1, 4)
