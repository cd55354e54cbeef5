"""From one small product to the largest training runs: amounts of compute on one ladder."""

from dataclasses import replace
from functools import cache
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.check import check_range
from core.budget.compute.forward_flops import forward_flops
from core.budget.item import Formula, Item, Kind, item
from core.language import N_

MATMUL: Final = Formula("2 * rows * inner * columns")
TRAINING: Final = Formula("6 * num_params * num_tokens")
MACHINE: Final = Formula("num_devices * days * 24 * 60 * 60 * flops_per_second * share")

_MATMUL: Final = N_("a multiply and an add for each number of each row and column")
_MACHINE: Final = N_("dense peak times devices times seconds, times the share that is reached")
_SIX: Final = N_("6 FLOPs for each parameter and token; Kaplan et al. 2020")


@cache
def flop_ladder() -> tuple[Item, ...]:
    """Return the rungs, smallest first."""
    rungs = [*_products(), *_models(), *_machines(), *_published()]
    return tuple(sorted(rungs, key=lambda rung: rung.amount))


def machine_flops(
    num_devices: int, days: float, flops_per_second: float, *, share: float = 1.0
) -> Item:
    """Return what devices compute in some days at a share of their peak; all of it is a bound.

    Raises:
        ValueError: If a number is out of range.
    """
    check_range("num_devices", num_devices, 1, 10**9)
    check_range("days", days, 0, 1e6)
    check_range("flops_per_second", flops_per_second, 1, 1e20)
    check_range("share", share, 0, 1)
    values = {
        "num_devices": num_devices,
        "days": days,
        "flops_per_second": flops_per_second,
        "share": share,
    }
    if share < 1:
        return item(
            N_("machine's FLOPs"), MACHINE, values,
            unit="FLOPs", source=_MACHINE, kind="estimated", band=0.1,
        )  # fmt: skip
    return item(N_("machine's FLOPs"), MACHINE, values, unit="FLOPs", kind="bound", source=_MACHINE)


def _products() -> list[Item]:
    sizes = {
        N_("a matmul on a laptop: 1024 × 256 times 256 × 64"): (1024, 256, 64),
        N_("a matmul of 4096 × 4096 matrices"): (4096, 4096, 4096),
        N_("a layer on a GPU: 16384 × 32768 times 32768 × 8192"): (16384, 32768, 8192),
    }
    return [
        item(
            name, MATMUL, {"rows": rows, "inner": inner, "columns": columns},
            unit="FLOPs", kind="exact", source=_MATMUL,
        )
        for name, (rows, inner, columns) in sizes.items()
    ]  # fmt: skip


def _models() -> list[Item]:
    """Return one token of a model, and training runs by the 6ND rule."""
    token = forward_flops(MODELS["llama-3.1-8b"], 1, 1)
    runs = {
        N_("training GPT-3 175B"): (175 * 10**9, 300 * 10**9),
        N_("training DeepSeek-V3, 37 B active"): (37 * 10**9, 14_800 * 10**9),
        N_("training Llama-3.1 405B"): (405_853_388_800, 15_600 * 10**9),
    }
    return [
        _renamed(token, N_("one token through Llama-3.1 8B"), token.source),
        *(
            item(
                name, TRAINING, {"num_params": num_params, "num_tokens": num_tokens},
                unit="FLOPs", source=_SIX, kind="estimated", band=0.1,
            )
            for name, (num_params, num_tokens) in runs.items()
        ),
    ]  # fmt: skip


def _machines() -> list[Item]:
    """Return what a machine can do at its peak: the lecture's "8 H100 for two weeks"."""
    source = N_("H100 SXM, dense bfloat16; Stanford CS336 says two weeks and computes one")
    weeks = machine_flops(8, 14, DEVICES["h100-sxm"].peak["bfloat16"])
    return [_renamed(weeks, N_("8 H100 for two weeks at their peak"), source)]


def _published() -> list[Item]:
    return [
        _stated(
            N_("training GPT-4, as outsiders estimate"), 2.1e25, "claimed",
            N_("Epoch AI 2024: not confirmed by OpenAI"),
        ),
        _stated(
            N_("EU AI Act: a model of systemic risk"), 1e25, "exact",
            N_("Regulation (EU) 2024/1689, article 51(2)"),
        ),
        _stated(
            N_("US order of 2023: report to the government"), 1e26, "exact",
            N_("Executive Order 14110, section 4.2(b); revoked in January 2025"),
        ),
    ]  # fmt: skip


def _renamed(rung: Item, name: str, source: str) -> Item:
    return replace(rung, name=name, source=source)


def _stated(name: str, amount: float, kind: Kind, source: str) -> Item:
    return Item(
        name=name, amount=amount, unit="FLOPs", low=amount, high=amount, source=source, kind=kind
    )
