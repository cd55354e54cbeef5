"""Our figure for each published one: what `quantity` names in published.toml."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.parameters import counts
from core.budget.cluster import Cluster
from core.budget.comparison.published import PublishedFigure
from core.budget.comparison.published_training import (
    allocated,
    reserved,
    saved_per_layer,
    scales_saved,
)
from core.budget.compute.flop_ladder import machine_flops
from core.budget.compute.training_time import seconds_item
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.budget.rules import flops_rule
from core.budget.serving.decode_speeds import with_measured_mbu
from core.budget.serving.kv_cache import kv_cache
from core.budget.serving.serving_plan import ServingPlan
from core.budget.serving.serving_time import decode_latency
from core.budget.serving.throughput import user_speed
from core.budget.training.adapters import adapter_widths
from core.language import N_
from core.models.spec import ModelSpec

Inputs = Mapping[str, Any]
STORED: Final = Formula("(num_params + extra_params) * bytes_each")
IMPLIED: Final = Formula("6 * num_params * num_tokens / (device_hours * 3600 * flops_per_second)")
ADAPTERS: Final = Formula("rank * total_width")


def rederive(figure: PublishedFigure) -> Item | None:
    """Return our figure for a published one; None where there is none.

    Raises:
        ValueError: If the quantity is not known.
    """
    if not figure.quantity:
        return None
    if figure.quantity not in REDERIVED:
        raise ValueError(f"{figure.slug}: nothing computes {figure.quantity!r}")
    return REDERIVED[figure.quantity](figure.inputs)


def stored_weights(inputs: Inputs) -> Item:
    """Return the bytes of a model's weights, all in one dtype."""
    spec = ModelSpec(**inputs["spec"])
    values = {
        "num_params": counts(spec).total,
        "extra_params": inputs["extra_params"],
        "bytes_each": inputs["bytes_each"],
    }
    source = N_("one stored number per parameter")
    return item(N_("weights"), STORED, values, unit="bytes", source=source)


def adapters(inputs: Inputs) -> Item:
    """Return LoRA's trainable parameters."""
    widths = adapter_widths(MODELS[inputs["model"]])
    values = {
        "rank": inputs["rank"],
        "total_width": sum(widths[target] for target in inputs["targets"]),
    }
    source = N_("Hu et al. 2021, LoRA: two thin matrices beside each adapted one")
    return item(N_("adapters"), ADAPTERS, values, unit="parameters", source=source)


def kv_cache_bytes(inputs: Inputs) -> Item:
    """Return the bytes of the KV cache of sequences."""
    return kv_cache(MODELS[inputs["model"]], inputs["context"])


def decode_speed(inputs: Inputs) -> Item:
    """Return the tokens/s of one sequence on a group of devices."""
    plan = ServingPlan(**inputs["plan"])
    cluster = Cluster(device=DEVICES[inputs["device"]], num_devices=plan.tensor)
    return user_speed(decode_latency(MODELS[inputs["model"]], with_measured_mbu(plan), cluster))


def six_nd(inputs: Inputs) -> Item:
    """Return the FLOPs of a training run by the rule of thumb."""
    return flops_rule(inputs["num_params"], inputs["num_tokens"])


def rule_seconds(inputs: Inputs) -> Item:
    """Return the seconds of a training run by the rule of thumb."""
    return seconds_item(**inputs)


def peak_flops(inputs: Inputs) -> Item:
    """Return what devices can compute in a time at their peak."""
    return machine_flops(**inputs)


def implied_mfu(inputs: Inputs) -> Item:
    """Return the MFU that the published device hours of a run come to, all its stages counted."""
    count = counts(MODELS[inputs["model"]])
    values = {
        "num_params": count.active,
        "num_tokens": inputs["num_tokens"],
        "device_hours": inputs["device_hours"],
        "flops_per_second": inputs["flops_per_second"],
    }
    source = N_("6 FLOPs for each parameter and token; Kaplan et al. 2020, section 2.1")
    return item(N_("MFU"), IMPLIED, values, unit="1", source=source)


REDERIVED: Final[Mapping[str, Callable[[Inputs], Item]]] = {
    "stored_weights": stored_weights,
    "adapters": adapters,
    "allocated": allocated,
    "reserved": reserved,
    "saved_per_layer": saved_per_layer,
    "scales_saved": scales_saved,
    "kv_cache": kv_cache_bytes,
    "decode_speed": decode_speed,
    "six_nd": six_nd,
    "rule_seconds": rule_seconds,
    "peak_flops": peak_flops,
    "implied_mfu": implied_mfu,
}
