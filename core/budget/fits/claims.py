"""The referee: can a stated speed or size be, by the bounds of the device?"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.check import check_choice
from core.budget.cluster import DeviceSpec
from core.budget.fits.claim import LIMIT, Claim, Ruling, Verdict
from core.budget.fits.claim_bounds import (
    least_pass_seconds,
    least_product_seconds,
    least_training_seconds,
    most_tokens_per_second,
)
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.budget.serving.serving_memory import serving_weights
from core.language import N_

MEMORY: Final = Formula("num_devices * memory")
SAID: Final = Formula("stated")
_SOLD: Final = N_("memory on the box, all devices together")


def rule(claim: Claim) -> Ruling:
    """Return what the bounds say about a claim.

    Raises:
        ValueError: If model, device or format is unknown, or the device does not multiply the
            dtype; the sentence says what is known.
    """
    check_choice("device", claim.device, tuple(DEVICES))
    if claim.kind != "matmul":
        check_choice("model", claim.model, tuple(MODELS))
    device = DEVICES[claim.device]
    ruling = _RULES[claim.kind](claim, device)
    return replace(ruling, memory=claim.num_devices * device.memory_sold)


def _product(claim: Claim, device: DeviceSpec) -> Ruling:
    return _of_time(claim, least_product_seconds(claim, device))


def _forward(claim: Claim, device: DeviceSpec) -> Ruling:
    bound = least_pass_seconds(claim, MODELS[claim.model], device)
    return _of_time(claim, bound, _misfit(claim, device))


def _training(claim: Claim, device: DeviceSpec) -> Ruling:
    return _of_time(claim, least_training_seconds(claim, MODELS[claim.model], device))


def _decode(claim: Claim, device: DeviceSpec) -> Ruling:
    bound = most_tokens_per_second(claim, MODELS[claim.model], device)
    stated = _said(claim, "tokens/s")
    ratio = claim.stated / bound.amount
    misfit = _misfit(claim, device)
    verdict = "impossible" if misfit else _verdict(ratio)
    return Ruling(
        claim=claim, verdict=verdict, stated=stated, bound=bound, ratio=ratio, misfit=misfit
    )


def _fits(claim: Claim, device: DeviceSpec) -> Ruling:
    needed, there = _weights(claim), _memory(claim, device)
    ratio = needed.amount / there.amount
    verdict = _verdict(ratio)
    return Ruling(claim=claim, verdict=verdict, stated=there, bound=needed, ratio=ratio)


def _needs(claim: Claim, device: DeviceSpec) -> Ruling:
    """Rule that so many are needed: too many, just enough, or not even enough."""
    needed, there = _weights(claim), _memory(claim, device)
    misfit = _misfit(claim, device)
    enough = None if misfit else _smaller(claim, device, needed)
    return Ruling(
        claim=claim,
        verdict="impossible" if misfit else "overstated" if enough else "possible",
        stated=there,
        bound=needed,
        ratio=there.amount / needed.amount,
        enough=enough,
        misfit=misfit,
    )


def _smaller(claim: Claim, device: DeviceSpec, needed: Item) -> tuple[str, int] | None:
    """Return fewer of the same devices that hold the weights, else one smaller device, or None."""
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
    verdict = "impossible" if misfit else _verdict(ratio)
    stated = _said(claim, "s")
    return Ruling(
        claim=claim, verdict=verdict, stated=stated, bound=bound, ratio=ratio, misfit=misfit
    )


def _verdict(ratio: float) -> Verdict:
    if ratio > 1:
        return "impossible"
    return "at_the_limit" if ratio > LIMIT else "possible"


def _weights(claim: Claim) -> Item:
    return serving_weights(MODELS[claim.model], claim.weight_format)


def _misfit(claim: Claim, device: DeviceSpec) -> Item | None:
    """Return the bytes of the weights if the memory on the boxes does not hold them."""
    needed = _weights(claim)
    return needed if needed.amount > _memory(claim, device).amount else None


def _memory(claim: Claim, device: DeviceSpec) -> Item:
    values = {"num_devices": claim.num_devices, "memory": device.memory_sold}
    return item("memory", MEMORY, values, unit="bytes", source=_SOLD)


def _said(claim: Claim, unit: str) -> Item:
    source = claim.source or N_("as stated")
    return item("stated", SAID, {"stated": claim.stated}, unit=unit, source=source)


_RULES: Final[Mapping[str, Callable[[Claim, DeviceSpec], Ruling]]] = {
    "matmul": _product,
    "forward": _forward,
    "training": _training,
    "decode": _decode,
    "fits": _fits,
    "needs": _needs,
}
