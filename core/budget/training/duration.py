"""How long training takes and what it costs: compute, links that are waited for, the bubble."""

from typing import Final

from core.budget.check import check_range
from core.budget.cluster import Cluster, peak_of, product_dtype
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.item import (
    GUESSED_WORK,
    Formula,
    Item,
    Kind,
    Number,
    as_guessed,
    estimated,
    item,
    total,
    weakest,
)
from core.budget.parallel.communication import exposed_seconds
from core.budget.parallel.pipeline import bubble
from core.budget.recipe import TrainingRecipe
from core.language import N_
from core.models.spec import ModelSpec

SECONDS: Final = Formula("6 * num_params * num_tokens / (num_devices * flops_per_second * mfu)")
SIX_ND: Final = N_("6 FLOPs for each parameter and token; Kaplan et al. 2020, section 2.1")
MOST: Final = 10**20

NUM_STEPS: Final = Formula("num_tokens / (data_ranks * batch_size * seq_len * accumulation)")
COMPUTE: Final = Formula("num_steps * step_flops / (ranks * flops_per_second * mfu)")
EXPOSED: Final = Formula("num_steps * seconds_each_step")
BUBBLE: Final = Formula("busy_seconds * bubble")
REACHED: Final = Formula("model_flops * num_steps * data_ranks / (num_devices * peak * seconds)")
_COMPUTE: Final = N_("matmuls at the share of the peak that the kernels reach")
_EXPOSED: Final = N_("communication that is not hidden behind compute, step by step")
_BUBBLE: Final = N_("Narayanan et al. 2021, section 2.2: stages wait (p - 1) / m of their work")
_SUM: Final = N_("each device computes, repeats, waits for others, and waits for its stage's turn")
_REACHED: Final = N_(
    "Chowdhery et al. 2022, PaLM, appendix B: the model's own FLOPs in all seconds"
)
COST: Final = Formula("num_devices * seconds / 3600 * price_per_hour")
PRICE: Final = N_("the price that you entered, for one device and hour")


def training_seconds(
    num_params: int, num_tokens: int, num_devices: int, flops_per_second: float, mfu: float
) -> float:
    """Return the seconds of training by the 6ND rule.

    >>> round(training_seconds(70 * 10**9, 15 * 10**12, 1024, 989.4e12, 0.5) / 86_400, 2)
    143.94

    `num_params` are the active ones of a mixture of experts; `flops_per_second` is the dense peak
    of one device, `mfu` the share of it that the model's own FLOPs use.

    Raises:
        ValueError: If a number is not positive, or `mfu` is not in (0, 1].
    """
    return float(seconds_item(num_params, num_tokens, num_devices, flops_per_second, mfu).amount)


def seconds_item(
    num_params: int,
    num_tokens: int,
    num_devices: int,
    flops_per_second: float,
    mfu: float,
    *,
    known: Kind = "estimated",
) -> Item:
    """Return `training_seconds` with its formula; `known` is how the peak is known."""
    for name, value in (("num_params", num_params), ("num_tokens", num_tokens)):
        check_range(name, value, 1, MOST)
    check_range("num_devices", num_devices, 1, 10**9)
    check_range("flops_per_second", flops_per_second, 1, MOST)
    check_range("mfu", mfu, 1e-6, 1)
    values = {
        "num_params": num_params,
        "num_tokens": num_tokens,
        "num_devices": num_devices,
        "flops_per_second": flops_per_second,
        "mfu": mfu,
    }
    kind = weakest(["estimated", known])
    return item(N_("training time"), SECONDS, values, unit="s", source=SIX_ND, kind=kind, band=0.1)


def training_time(
    spec: ModelSpec,
    recipe: TrainingRecipe,
    cluster: Cluster,
    num_tokens: float,
    mfu: float,
    *,
    causal: bool = False,
) -> Item:
    """Return the seconds of training in lines: compute, repeated work, communication, bubble.

    `mfu` is the share of the peak that the products reach while they run. The MFU of the whole,
    with all waiting in it, is lower: see `reached_mfu`. `causal` leaves out masked pairs of tokens.

    Raises:
        ValueError: If a number is out of range or the device's peak is not known.
    """
    check_range("num_tokens", num_tokens, 1, MOST)
    check_range("mfu", mfu, 1e-6, 1)
    step = step_flops(spec, recipe, causal=causal)
    sizes = _sizes(recipe, cluster, num_tokens, mfu)
    kind = _known(recipe, cluster)
    parts = [_compute(N_("compute"), model_flops(step), sizes, kind)]
    if len(step.children) > 2:
        parts.append(_compute(N_("extra work"), step.child("extra work"), sizes, kind))
    if cluster.num_devices > 1:
        parts.append(_communication(exposed_seconds(spec, recipe, cluster), sizes))
    if cluster.pipeline > 1:
        busy = sum(part.amount for part in parts if part.name != "communication")
        values = {"busy_seconds": busy, "bubble": bubble(cluster, recipe.accumulation)}
        parts.append(_line(N_("pipeline bubble"), BUBBLE, values, _BUBBLE, kind))
    return as_guessed(total(N_("training time"), parts, source=_SUM), spec, GUESSED_WORK)


def reached_mfu(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, num_tokens: float, seconds: float
) -> Item:
    """Return the MFU of a whole training run that took `seconds`."""
    sizes = _sizes(recipe, cluster, num_tokens, 1.0)
    values = {
        "model_flops": model_flops(step_flops(spec, recipe)).amount,
        "num_steps": sizes["num_steps"],
        "data_ranks": cluster.data,
        "num_devices": cluster.num_devices,
        "peak": sizes["flops_per_second"],
        "seconds": seconds,
    }
    kind = _known(recipe, cluster)
    mfu = item(N_("MFU"), REACHED, values, unit="1", source=_REACHED, kind=kind, band=0.1)
    return as_guessed(mfu, spec, GUESSED_WORK)


def _sizes(
    recipe: TrainingRecipe, cluster: Cluster, num_tokens: float, mfu: float
) -> dict[str, Number]:
    sizes: dict[str, Number] = {
        "num_tokens": num_tokens,
        "data_ranks": cluster.data,
        "batch_size": recipe.batch_size,
        "seq_len": recipe.seq_len,
        "accumulation": recipe.accumulation,
        "ranks": cluster.ranks_of_a_replica,
        "flops_per_second": peak_of(cluster.device, recipe.precision),
        "mfu": mfu,
    }
    sizes["num_steps"] = NUM_STEPS.of(sizes)
    return sizes


def _known(recipe: TrainingRecipe, cluster: Cluster) -> Kind:
    """Return how an estimate is known that divides by the peak of the products."""
    return cluster.device.estimate(product_dtype(cluster.device, recipe.precision))


def _compute(name: str, flops: Item, sizes: dict[str, Number], kind: Kind) -> Item:
    return _line(name, COMPUTE, sizes | {"step_flops": flops.amount}, _COMPUTE, kind)


def _communication(each: Item, sizes: dict[str, Number]) -> Item:
    """Return the seconds of all steps, as sure as those of each one."""
    values = sizes | {"seconds_each_step": each.amount}
    return item(
        N_("communication"), EXPOSED, values,
        unit="s", source=_EXPOSED, kind=each.kind, band=each.band,
    )  # fmt: skip


def _line(name: str, formula: Formula, values: dict[str, Number], source: str, kind: Kind) -> Item:
    return item(name, formula, values, unit="s", source=source, kind=kind, band=0.1)


def cost(num_devices: int, seconds: float, price_per_hour: float) -> Item:
    """Return the price of running `num_devices` for an estimated time, in the price's currency.

    >>> round(cost(1024, 143.93 * 86_400, 2.0).amount)
    7074447

    Raises:
        ValueError: If a number is negative.
    """
    check_range("num_devices", num_devices, 1, 10**9)
    check_range("seconds", seconds, 0, 1e30)
    check_range("price_per_hour", price_per_hour, 0, 1e6)
    values = {"num_devices": num_devices, "seconds": seconds, "price_per_hour": price_per_hour}
    return estimated(N_("cost"), COST, values, PRICE, 0.1, "USD")
