"""Prefill and decoding under the roofline: FLOPs for each byte read, and the FLOP/s they reach."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from core.budget.cluster import Cluster, DeviceSpec
from core.budget.compute.intensity import ridge
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.budget.serving.inference_budget import largest_concurrency
from core.budget.serving.serving_plan import ServingPlan
from core.budget.serving.serving_time import (
    decode_latency,
    known_bandwidth,
    prefill_latency,
    product_peak,
)
from core.language import N_
from core.models.spec import ModelSpec

INTENSITY: Final = Formula("flops / (tensor * (weight_bytes + kv_bytes))")
_INTENSITY: Final = N_("FLOPs of one device for each byte that it reads: Williams et al. 2009")

Phase = Literal["prefill", "decoding"]
DECODED: Final = (1, 4, 16, 64, 256, 1024)


@dataclass(frozen=True, kw_only=True, slots=True)
class RooflinePoint:
    """One pass under the roof.

    Attributes:
        phase: "prefill" or "decoding".
        num_tokens: Tokens of the pass: of the prompt, or one for each sequence.
        intensity: FLOPs for each byte.
        flops_per_second: What one device reaches while it reads and computes.
        mfu: That over the peak of the data sheet.
        fits: Whether weights and KV cache of so many sequences fit.
    """

    phase: Phase
    num_tokens: int
    intensity: float
    flops_per_second: float
    mfu: float
    fits: bool


def roofline_points(
    spec: ModelSpec, serving: ServingPlan, cluster: Cluster
) -> tuple[RooflinePoint, ...]:
    """Return decoding for 1, 4, 16 ... sequences and for the plan's, and one prompt's prefill.

    Raises:
        ValueError: As `decode_latency`.
    """
    largest = largest_concurrency(spec, serving, cluster)
    points = []
    for count in sorted({*DECODED, serving.concurrency}):
        token = decode_latency(spec, replace(serving, concurrency=count), cluster)
        points.append(_point("decoding", count, token, fits=count <= largest))
    prompt = prefill_latency(spec, serving, cluster)
    return (*points, _point("prefill", serving.prompt_len, prompt, fits=largest > 0))


def _point(phase: Phase, num_tokens: int, latency: Item, *, fits: bool) -> RooflinePoint:
    roofline = latency.child("reading or computing")
    values = roofline.children[0].values
    reached = values["flops"] / values["tensor"] / roofline.amount
    return RooflinePoint(
        phase=phase,
        num_tokens=num_tokens,
        intensity=float(intensity(latency).amount),
        flops_per_second=reached,
        mfu=reached / values["flops_per_second"],
        fits=fits,
    )


def intensity(latency: Item) -> Item:
    """Return the FLOPs for each byte of a pass, from `decode_latency` or `prefill_latency`."""
    values = latency.child("reading or computing").children[0].values
    return item("arithmetic intensity", INTENSITY, values, unit="FLOPs/byte", source=_INTENSITY)


def device_ridge(device: DeviceSpec, weight_format: str = "bfloat16") -> Item:
    """Return the FLOPs for each byte at which reading and computing take equally long.

    Raises:
        ValueError: If the device has no bandwidth, or no peak for weights of the format.
    """
    return ridge(product_peak(device, weight_format), known_bandwidth(device))
