"""The least time that physics allows: every FLOP at the dense peak, every byte at full bandwidth.

A bound assumes that nothing else costs time: no launch, no cache miss, no KV cache, no links. What
is faster than this did not happen as it was told.
"""

from typing import Final

from core.budget.catalogue.parameters import counts
from core.budget.cluster import DeviceSpec
from core.budget.fits.claim import Claim
from core.budget.formula import Formula
from core.budget.item import Item, item, total
from core.budget.serving.serving_memory import serving_weights
from core.language import N_, _
from core.models.spec import ModelSpec

PRODUCT_FLOPS: Final = Formula("2 * size ** 3 / (num_devices * flops_per_second)")
PRODUCT_BYTES: Final = Formula("3 * size ** 2 * bits / 8 / (num_devices * bytes_per_second)")
FORWARD_FLOPS: Final = Formula("2 * num_params * num_tokens / (num_devices * flops_per_second)")
TRAINING_FLOPS: Final = Formula("6 * num_params * num_tokens / (num_devices * flops_per_second)")
READ_BYTES: Final = Formula("num_params * bits_per_param / 8 / (num_devices * bytes_per_second)")
RATE: Final = Formula("num_sequences / seconds_per_step")

BITS: Final = {
    "float32": 32,
    "tf32": 32,
    "bfloat16": 16,
    "float16": 16,
    "fp8": 8,
    "fp4": 4,
    "int8": 8,
}
_PEAK: Final = N_("the data sheet's dense peak; two FLOPs for a multiply and an add")
_BANDWIDTH: Final = N_("the data sheet's memory bandwidth; every byte moved once")
_SLOWER: Final = N_("computing and moving can overlap, so the slower of the two decides")
_SIX: Final = N_("6 FLOPs for a parameter and a token: Kaplan et al. 2020, section 2.1")


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


def fastest(device: DeviceSpec) -> float:
    """Return the highest dense peak of any dtype: what no way of computing can exceed."""
    return max(device.peak.values(), default=0.0)


def least_product_seconds(claim: Claim, device: DeviceSpec) -> Item:
    """Return the least time of a product of two square matrices.

    Raises:
        ValueError: If the device does not multiply the dtype.
    """
    values = {
        "size": claim.size,
        "num_devices": claim.num_devices,
        "bits": BITS[claim.dtype],
        "flops_per_second": peak_of(device, claim.dtype),
        "bytes_per_second": device.bandwidth,
    }
    return _slower(
        item(N_("computing"), PRODUCT_FLOPS, values, unit="s", source=_PEAK),
        item(N_("moving"), PRODUCT_BYTES, values, unit="s", source=_BANDWIDTH),
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
        "flops_per_second": fastest(device),
        "bytes_per_second": device.bandwidth,
    }
    return _slower(
        item(N_("computing"), FORWARD_FLOPS, values, unit="s", source=_PEAK),
        item(N_("moving"), READ_BYTES, values, unit="s", source=_BANDWIDTH),
    )


def most_tokens_per_second(claim: Claim, spec: ModelSpec, device: DeviceSpec) -> Item:
    """Return the highest decoding rate of all sequences together: one pass gives each a token."""
    step = least_pass_seconds(claim, spec, device)
    values = {"num_sequences": claim.num_tokens, "seconds_per_step": step.amount}
    return item("tokens per second", RATE, values, unit="tokens/s", source=step.source)


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
    return item("training", TRAINING_FLOPS, values, unit="s", source=_SIX)


def _slower(*parts: Item) -> Item:
    return total(N_("least time"), parts, source=_SLOWER, combine="max")
