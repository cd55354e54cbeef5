"""The referee: can a stated speed or size be, by the bounds of the device?

What is faster than its bound did not happen as it was told, unless it did without what the bound
assumes (`core.budget.claims.bounds.assumed`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.check import check_choice
from core.budget.claims.bounds import (
    least_pass_seconds,
    least_product_seconds,
    least_training_seconds,
    memory_there,
    most_tokens_per_second,
    weights_needed,
)
from core.budget.claims.claim import LIMIT, Claim, Ruling, Verdict
from core.budget.item import Formula, Item, item
from core.language import N_

SAID: Final = Formula("stated")


def rule(claim: Claim) -> Ruling:
    """Return what the bounds say about a claim.

    Raises:
        ValueError: If model, device or format is unknown, or the device does not multiply the
            dtype; the sentence says what is known.
    """
    check_choice("device", claim.device, tuple(DEVICES))
    if claim.kind != "matmul":
        check_choice("model", claim.model, tuple(MODELS))
    return replace(_RULES[claim.kind](claim), memory=memory_there(claim).amount)


def _product(claim: Claim) -> Ruling:
    return _of_time(claim, least_product_seconds(claim))


def _forward(claim: Claim) -> Ruling:
    return _of_time(claim, least_pass_seconds(claim, MODELS[claim.model]), _misfit(claim))


def _training(claim: Claim) -> Ruling:
    return _of_time(claim, least_training_seconds(claim, MODELS[claim.model]))


def _decode(claim: Claim) -> Ruling:
    bound = most_tokens_per_second(claim, MODELS[claim.model])
    stated = _said(claim, "tokens/s")
    return _held_against(claim, bound, stated, claim.stated / bound.amount, _misfit(claim))


def _fits(claim: Claim) -> Ruling:
    needed, there = weights_needed(claim, MODELS[claim.model]), memory_there(claim)
    return _held_against(claim, needed, there, needed.amount / there.amount)


def _needs(claim: Claim) -> Ruling:
    """Rule that so many are needed: too many, just enough, or not even enough."""
    needed, there = weights_needed(claim, MODELS[claim.model]), memory_there(claim)
    misfit = _misfit(claim)
    enough = None if misfit else _smaller(claim, needed)
    return Ruling(
        claim=claim,
        verdict="impossible" if misfit else "overstated" if enough else "possible",
        stated=there,
        bound=needed,
        ratio=there.amount / needed.amount,
        enough=enough,
        misfit=misfit,
    )


def _smaller(claim: Claim, needed: Item) -> tuple[str, int] | None:
    """Return fewer of the same devices that hold the weights, else one smaller device, or None."""
    device = DEVICES[claim.device]
    fewer = -(-needed.num_bytes // int(device.memory_usable))
    if fewer < claim.num_devices:
        return claim.device, fewer
    smaller = [
        (spec.memory_usable, key)
        for key, spec in DEVICES.items()
        if needed.num_bytes <= spec.memory_usable
        and spec.memory_sold < device.memory_sold
        and claim.dtype in spec.peak
    ]
    return (min(smaller)[1], 1) if smaller else None


def _of_time(claim: Claim, bound: Item, misfit: Item | None = None) -> Ruling:
    ratio = bound.amount / claim.stated if claim.stated else float("inf")
    return _held_against(claim, bound, _said(claim, "s"), ratio, misfit)


def _held_against(
    claim: Claim, bound: Item, stated: Item, ratio: float, misfit: Item | None = None
) -> Ruling:
    verdict: Verdict = "at_the_limit" if ratio > LIMIT else "possible"
    if misfit or ratio > 1:
        verdict = "impossible"
    return Ruling(
        claim=claim, verdict=verdict, stated=stated, bound=bound, ratio=ratio, misfit=misfit
    )


def _misfit(claim: Claim) -> Item | None:
    """Return the bytes of the weights if the memory on the boxes does not hold them."""
    needed = weights_needed(claim, MODELS[claim.model])
    return needed if needed.amount > memory_there(claim).amount else None


def _said(claim: Claim, unit: str) -> Item:
    source = claim.source or N_("as stated")
    return item("stated", SAID, {"stated": claim.stated}, unit=unit, kind="claimed", source=source)


_RULES: Final[Mapping[str, Callable[[Claim], Ruling]]] = {
    "matmul": _product,
    "forward": _forward,
    "training": _training,
    "decode": _decode,
    "fits": _fits,
    "needs": _needs,
}
