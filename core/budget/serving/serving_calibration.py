"""A plan that speaks of the reader's own machine: the bandwidth share behind a measured speed."""

from dataclasses import replace
from typing import Final

from core.budget.check import check_range
from core.budget.cluster import Cluster
from core.budget.serving.serving_plan import LEAST_MBU, ServingPlan
from core.budget.serving.serving_time import decode_latency
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_seconds

_MOST: Final = 1e9


def calibrated(
    spec: ModelSpec, serving: ServingPlan, cluster: Cluster, tokens_per_second: float
) -> ServingPlan:
    """Return the plan with the share of the bandwidth that a measured speed amounts to.

    Args:
        spec: The model.
        serving: The plan; its formats and devices are those of the measurement.
        cluster: The device and its links.
        tokens_per_second: What one reader measured while nobody else was served.

    Raises:
        ValueError: If the speed is not positive, more than the device's bandwidth allows, or so
            little that hardly any of it is used.
    """
    check_range("tokens_per_second", tokens_per_second, 0.001, _MOST)
    alone = replace(serving, concurrency=1, mbu=1.0, mfu=1.0)
    fastest = decode_latency(spec, alone, cluster)
    roofline = fastest.child("reading or computing")
    beside = fastest.amount - roofline.amount  # launches and all-reduces
    left = 1 / tokens_per_second - beside
    share = roofline.child("reading").amount / left if left > 0 else 2
    words = {
        "speed": f"{tokens_per_second:,.4g}",
        "device": cluster.device.name,
        "least": format_seconds(fastest.amount),
        "model": spec.name,
    }
    if share > 1:
        raise ValueError(_too_fast().format(**words))
    if share < LEAST_MBU:
        raise ValueError(_too_slow().format(**words))
    return replace(serving, mbu=share)


def _too_fast() -> str:
    return _(
        "{speed} tokens/s cannot be: {device} needs at least {least} for one token of {model}. "
        "Look at the model, the format and the device."
    )


def _too_slow() -> str:
    return _(
        "{speed} tokens/s is not a thousandth of what {device} gives {model} at best ({least} a "
        "token). Look at the model, the format and the device."
    )
