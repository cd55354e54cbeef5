"""The referee: can a stated speed or size be, by the bounds of the device?

A bound is the least time that physics allows: every FLOP at the dense peak, every byte at full
bandwidth, no launch, no cache miss, no KV cache, no links. What is faster than this did not happen
as it was told.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.check import check_choice
from core.budget.claims.claim import LIMIT, Claim, Ruling, Verdict
from core.budget.cluster import DeviceSpec
from core.budget.compute.intensity import ITEM_BYTES
from core.budget.item import Formula, Item, item, total
from core.budget.weights.parameters import counts
from core.budget.weights.stored import serving_weights
from core.language import N_, _
from core.models.spec import ModelSpec

PRODUCT_FLOPS: Final = Formula("2 * size ** 3 / (num_devices * flops_per_second)")
PRODUCT_BYTES: Final = Formula("3 * size ** 2 * bits / 8 / (num_devices * bytes_per_second)")
FORWARD_FLOPS: Final = Formula("2 * num_params * num_tokens / (num_devices * flops_per_second)")
TRAINING_FLOPS: Final = Formula("6 * num_params * num_tokens / (num_devices * flops_per_second)")
READ_BYTES: Final = Formula("num_params * bits_per_param / 8 / (num_devices * bytes_per_second)")
RATE: Final = Formula("num_sequences / seconds_per_step")
MEMORY: Final = Formula("num_devices * memory")
SAID: Final = Formula("stated")

_PEAK: Final = N_("the data sheet's dense peak; two FLOPs for a multiply and an add")
_BANDWIDTH: Final = N_("the data sheet's memory bandwidth; every byte moved once")
_SLOWER: Final = N_("computing and moving can overlap, so the slower of the two decides")
_SIX: Final = N_("6 FLOPs for a parameter and a token: Kaplan et al. 2020, section 2.1")
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
    return _held_against(claim, bound, stated, claim.stated / bound.amount, _misfit(claim, device))


def _fits(claim: Claim, device: DeviceSpec) -> Ruling:
    needed, there = _weights(claim), _memory(claim, device)
    return _held_against(claim, needed, there, needed.amount / there.amount)


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


def _weights(claim: Claim) -> Item:
    return serving_weights(MODELS[claim.model], claim.weight_format)


def _misfit(claim: Claim, device: DeviceSpec) -> Item | None:
    """Return the bytes of the weights if the memory on the boxes does not hold them."""
    needed = _weights(claim)
    return needed if needed.amount > _memory(claim, device).amount else None


def _memory(claim: Claim, device: DeviceSpec) -> Item:
    values = {"num_devices": claim.num_devices, "memory": device.memory_sold}
    return item("memory", MEMORY, values, unit="bytes", kind="data sheet", source=_SOLD)


def _said(claim: Claim, unit: str) -> Item:
    source = claim.source or N_("as stated")
    return item("stated", SAID, {"stated": claim.stated}, unit=unit, kind="claimed", source=source)


_RULES: Final[Mapping[str, Callable[[Claim, DeviceSpec], Ruling]]] = {
    "matmul": _product,
    "forward": _forward,
    "training": _training,
    "decode": _decode,
    "fits": _fits,
    "needs": _needs,
}


def peak_of(device: DeviceSpec, dtype: str) -> float:
    """Return the dense peak of a dtype.

    Raises:
        ValueError: If the device does not multiply it; the sentence names what it does.
    """
    if dtype not in device.peak:
        raise ValueError(
            _("{device} has no peak for {dtype}; it multiplies {known}.").format(
                device=device.name, dtype=dtype, known=", ".join(device.peak)
            )
        )
    return device.peak[dtype]


def least_product_seconds(claim: Claim, device: DeviceSpec) -> Item:
    """Return the least time of a product of two square matrices.

    Raises:
        ValueError: If the device does not multiply the dtype.
    """
    values = {
        "size": claim.size,
        "num_devices": claim.num_devices,
        "bits": int(8 * ITEM_BYTES[claim.dtype]),
        "flops_per_second": peak_of(device, claim.dtype),
        "bytes_per_second": device.bandwidth,
    }
    return _slower(
        item(N_("computing"), PRODUCT_FLOPS, values, unit="s", kind=device.limit, source=_PEAK),
        item(N_("moving"), PRODUCT_BYTES, values, unit="s", kind=device.limit, source=_BANDWIDTH),
    )


def least_pass_seconds(claim: Claim, spec: ModelSpec, device: DeviceSpec) -> Item:
    """Return the least time of one pass: the weights are read once, every token computed.

    The embedding table is not counted: only the rows of the tokens are read. Of experts only those
    that one token passes.
    """
    found = counts(spec)
    num_params = found.active - (0 if spec.tied else found.embeddings)
    weights = serving_weights(spec, claim.weight_format)
    values = {
        "num_params": num_params,
        "num_tokens": claim.num_tokens,
        "num_devices": claim.num_devices,
        "bits_per_param": weights.num_bytes * 8 / found.total,
        # the highest peak of any dtype: what no way of computing can exceed
        "flops_per_second": max(device.peak.values(), default=0.0),
        "bytes_per_second": device.bandwidth,
    }
    return _slower(
        item(N_("computing"), FORWARD_FLOPS, values, unit="s", kind=device.limit, source=_PEAK),
        item(N_("moving"), READ_BYTES, values, unit="s", kind=device.limit, source=_BANDWIDTH),
    )


def most_tokens_per_second(claim: Claim, spec: ModelSpec, device: DeviceSpec) -> Item:
    """Return the highest decoding rate of all sequences together: one pass gives each a token."""
    step = least_pass_seconds(claim, spec, device)
    values = {"num_sequences": claim.num_tokens, "seconds_per_step": step.amount}
    return item(
        "tokens per second", RATE, values, unit="tokens/s", kind=step.kind, source=step.source
    )


def least_training_seconds(claim: Claim, spec: ModelSpec, device: DeviceSpec) -> Item:
    """Return the least time of a training run: 6ND at the dense peak of what it computes in.

    A device without bfloat16 trains in float16.

    Raises:
        ValueError: If the device does not multiply the dtype.
    """
    halves = claim.dtype == "bfloat16" and "bfloat16" not in device.peak
    values = {
        "num_params": counts(spec).active,
        "num_tokens": claim.num_tokens,
        "num_devices": claim.num_devices,
        "flops_per_second": peak_of(device, "float16" if halves else claim.dtype),
    }
    return item("training", TRAINING_FLOPS, values, unit="s", kind=device.limit, source=_SIX)


def _slower(*parts: Item) -> Item:
    return total(N_("least time"), parts, source=_SLOWER, combine="max")
