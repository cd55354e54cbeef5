"""The least time that physics allows: every FLOP at the dense peak, every byte at full bandwidth.

No launch, no cache miss, no KV cache, no links. What each bound takes for granted stands in
`ASSUMES`: who does otherwise, such as speculative decoding, is not refuted by it.
"""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.claims.claim import Claim, ClaimKind
from core.budget.cluster import DeviceSpec
from core.budget.compute.intensity import ITEM_BYTES
from core.budget.item import Formula, Item, item, total
from core.budget.serving.latency import weights_read
from core.budget.serving.plan import ServingPlan
from core.budget.weights.parameters import counts
from core.budget.weights.stored import serving_weights
from core.language import N_, _
from core.models.spec import ModelSpec

PRODUCT_FLOPS: Final = Formula("2 * size ** 3 / (num_devices * flops_per_second)")
PRODUCT_BYTES: Final = Formula("3 * size ** 2 * bits / 8 / (num_devices * bytes_per_second)")
PASS_FLOPS: Final = Formula(
    "2 * (num_params * num_tokens + head_params * num_answered) / (num_devices * flops_per_second)"
)
TRAINING_FLOPS: Final = Formula("6 * num_params * num_tokens / (num_devices * flops_per_second)")
READ_BYTES: Final = Formula("weight_bytes / (num_devices * bytes_per_second)")
RATE: Final = Formula("num_sequences / seconds_per_step")
MEMORY: Final = Formula("num_devices * memory")

_PEAK: Final = N_("the data sheet's dense peak; two FLOPs for a multiply and an add")
_BANDWIDTH: Final = N_("the data sheet's memory bandwidth; every byte moved once")
_READ: Final = N_(
    "the data sheet's memory bandwidth; quantized matrices, 16-bit head and norms are read once, "
    "of the embedding only rows, of experts those of one token"
)
_SLOWER: Final = N_("computing and moving can overlap, so the slower of the two decides")
_SIX: Final = N_("6 FLOPs for a parameter and a token: Kaplan et al. 2020, section 2.1")
_SOLD: Final = N_("nominal memory of all devices together")

ASSUMES: Final[Mapping[ClaimKind, str]] = {
    "matmul": N_(
        "every product of {dtype} numbers is made, none skipped as zero, at the dense peak with "
        "sums in fp32"
    ),
    "decode": N_(
        "concurrent sequences: {count}, each gets one token from a pass (speculative decoding, "
        "which gets several, is not refuted); every weight in {format} read from device memory "
        "in each pass"
    ),
    "forward": N_(
        "tokens in one pass: {count}; every weight in {format} read from device memory once, every "
        "product made"
    ),
    "training": N_(
        "6 FLOPs for each parameter and token, in {dtype} at the dense peak; no frozen weights"
    ),
    "fits": N_("the weights in {format} alone, head and embeddings in 16 bits; no KV cache"),
    "needs": N_("the weights in {format} alone, head and embeddings in 16 bits; no KV cache"),
}
"""What a bound takes for granted, by what is claimed; filled in by `assumed`."""


def assumed(claim: Claim) -> str:
    """Return, translated, what the bound on a claim takes for granted."""
    return _(ASSUMES[claim.kind]).format(
        count=f"{claim.num_tokens:,}", format=claim.weight_format, dtype=claim.dtype
    )


def least_product_seconds(claim: Claim) -> Item:
    """Return the least time of a product of two square matrices.

    Raises:
        ValueError: If the device does not multiply the dtype.
    """
    device = DEVICES[claim.device]
    values = {
        "size": claim.size,
        "num_devices": claim.num_devices,
        "bits": int(8 * ITEM_BYTES[claim.dtype]),
        "flops_per_second": peak_of(device, claim.dtype),
        "bytes_per_second": device.bandwidth,
    }
    compute, move = device.limit(claim.dtype), device.limit("bandwidth")
    return _slower(
        item(N_("computing"), PRODUCT_FLOPS, values, unit="s", kind=compute, source=_PEAK),
        item(N_("moving"), PRODUCT_BYTES, values, unit="s", kind=move, source=_BANDWIDTH),
    )


def least_pass_seconds(claim: Claim, spec: ModelSpec) -> Item:
    """Return the least time of one pass: the weights are read once, every token computed.

    The embedding table is not counted: only the rows of the tokens are read. Of experts only those
    that one token passes. A prompt needs the head for its last token only.

    Raises:
        ValueError: If the format of the weights is unknown.
    """
    device, found = DEVICES[claim.device], counts(spec)
    fastest = max(device.peak, key=lambda dtype: device.peak[dtype])
    head = spec.vocab_size * spec.hidden_dim
    values = {
        "num_params": found.active - found.embeddings - found.head,
        "head_params": head,
        "num_tokens": claim.num_tokens,
        "num_answered": claim.num_tokens if claim.kind == "decode" else 1,
        "num_devices": claim.num_devices,
        "weight_bytes": weights_read(
            spec, ServingPlan(weight_format=claim.weight_format), 1
        ).amount,
        # the highest peak of any dtype: what no way of computing can exceed
        "flops_per_second": device.peak[fastest],
        "bytes_per_second": device.bandwidth,
    }
    compute, move = device.limit(fastest), device.limit("bandwidth")
    return _slower(
        item(N_("computing"), PASS_FLOPS, values, unit="s", kind=compute, source=_PEAK),
        item(N_("moving"), READ_BYTES, values, unit="s", kind=move, source=_READ),
    )


def most_tokens_per_second(claim: Claim, spec: ModelSpec) -> Item:
    """Return the highest decoding rate of all sequences together: one pass gives each a token."""
    step = least_pass_seconds(claim, spec)
    values = {"num_sequences": claim.num_tokens, "seconds_per_step": step.amount}
    return item(
        "tokens per second", RATE, values, unit="tokens/s", kind=step.kind, source=step.source
    )


def least_training_seconds(claim: Claim, spec: ModelSpec) -> Item:
    """Return the least time of a training run: 6ND at the dense peak of what it computes in.

    A device without bfloat16 trains in float16.

    Raises:
        ValueError: If the device does not multiply the dtype.
    """
    device = DEVICES[claim.device]
    halves = claim.dtype == "bfloat16" and "bfloat16" not in device.peak
    dtype = "float16" if halves else claim.dtype
    values = {
        "num_params": counts(spec).active,
        "num_tokens": claim.num_tokens,
        "num_devices": claim.num_devices,
        "flops_per_second": peak_of(device, dtype),
    }
    return item("training", TRAINING_FLOPS, values, unit="s", kind=device.limit(dtype), source=_SIX)


def weights_needed(claim: Claim, spec: ModelSpec) -> Item:
    """Return the bytes of a model's weights in the format of the claim."""
    return serving_weights(spec, claim.weight_format)


def memory_there(claim: Claim) -> Item:
    """Return the memory on the boxes of all devices of a claim."""
    device = DEVICES[claim.device]
    values = {"num_devices": claim.num_devices, "memory": device.memory_sold}
    return item("memory", MEMORY, values, unit="bytes", kind=device.known, source=_SOLD)


def peak_of(device: DeviceSpec, dtype: str) -> float:
    """Return the dense peak of a dtype.

    Raises:
        ValueError: If the device does not multiply it; the sentence names what it does.
    """
    if dtype not in device.peak:
        raise ValueError(
            _("{device} has no peak for {dtype}; it multiplies {known}.").format(
                device=device.name, dtype=dtype, known=_(", ").join(device.peak)
            )
        )
    return device.peak[dtype]


def _slower(*parts: Item) -> Item:
    return total(N_("least time"), parts, source=_SLOWER, combine="max")
