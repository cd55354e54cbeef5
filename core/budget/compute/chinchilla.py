"""How many parameters and tokens a given amount of compute should be spent on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.budget.check import check_range
from core.budget.item import Formula, Item, estimated, item
from core.language import N_

TOKENS_PER_PARAM: Final = 20
BEST_PARAMS: Final = Formula("(flops / (6 * tokens_per_param)) ** 0.5")
BEST_TOKENS: Final = Formula("tokens_per_param * num_params")
LOSS: Final = Formula("e + a / num_params ** alpha + b / num_tokens ** beta")

MACHINE: Final = Formula("num_devices * days * 24 * 60 * 60 * flops_per_second * share")
_MACHINE: Final = N_("dense peak times devices times seconds, times the share that is reached")
LOWEST: Final = Formula(
    "(alpha * a / (beta * b)) ** (1 / (alpha + beta)) * (flops / 6) ** (beta / (alpha + beta))"
)
RATIO: Final = Formula("flops / (6 * num_params ** 2)")

_HOFFMANN: Final = N_("Hoffmann et al. 2022, Training Compute-Optimal LLMs: about 20 tokens each")

_LOWEST: Final = N_("Hoffmann et al. 2022, equation 4, with the fitted law's constants")


@dataclass(frozen=True, kw_only=True, slots=True)
class LossFit:
    """A fitted law of the loss in nats: e + a / N**alpha + b / D**beta."""

    name: str
    constants: Mapping[str, float]
    source: str


HOFFMANN: Final = LossFit(
    name="Hoffmann 2022",
    constants={"e": 1.69, "a": 406.4, "b": 410.7, "alpha": 0.34, "beta": 0.28},
    source=N_("Hoffmann et al. 2022, equation 10: approach 3"),
)
BESIROGLU: Final = LossFit(
    name="Besiroglu 2024",
    constants={"e": 1.8172, "a": 482.01, "b": 2085.43, "alpha": 0.3478, "beta": 0.3658},
    source=N_("Besiroglu et al. 2024, Chinchilla Scaling: A Replication Attempt: refitted"),
)
FITS: Final = (HOFFMANN, BESIROGLU)


def best_params(flops: float) -> Item:
    """Return the parameters that use `flops` best: C = 6 N D with D = 20 N.

    >>> round(best_params(5.88e23).amount / 1e9)  # Chinchilla itself: 70 B on 1.4 T tokens
    70

    Raises:
        ValueError: If a number is not positive.
    """
    check_range("flops", flops, 1, 1e40)
    values = {"flops": flops, "tokens_per_param": TOKENS_PER_PARAM}
    return estimated(N_("best model"), BEST_PARAMS, values, _HOFFMANN, 0.3, "parameters")


def best_tokens(flops: float) -> Item:
    """Return the tokens that go with `best_params`.

    Raises:
        ValueError: If a number is not positive.
    """
    values = {"num_params": best_params(flops).amount, "tokens_per_param": TOKENS_PER_PARAM}
    return estimated(N_("best tokens"), BEST_TOKENS, values, _HOFFMANN, 0.3, "tokens")


def lowest_params(flops: float, fit: LossFit = BESIROGLU) -> Item:
    """Return the size at which a fitted law, with 6 N D = `flops`, is lowest.

    >>> round(lowest_params(5.76e23, HOFFMANN).amount / 1e9, 1)  # their own text says 70
    32.2

    Raises:
        ValueError: If the compute is not positive.
    """
    check_range("flops", flops, 1, 1e40)
    values = {**fit.constants, "flops": flops}
    return estimated(N_("lowest point of a fitted law"), LOWEST, values, _LOWEST, 0.3, "parameters")


def lowest_ratio(flops: float, fit: LossFit = BESIROGLU) -> Item:
    """Return the tokens for each parameter at a fitted law's lowest point.

    >>> round(lowest_ratio(5.76e23, HOFFMANN).amount, 1)
    92.6

    Raises:
        ValueError: If the compute is not positive.
    """
    values = {"flops": flops, "num_params": lowest_params(flops, fit).amount}
    return estimated(N_("tokens for each parameter"), RATIO, values, _LOWEST, 0.6, "tokens")


def loss_for_size(flops: float, num_params: float, fit: LossFit = BESIROGLU) -> float:
    """Return the nats for each token that a fitted law foresees of `flops` on a model of that size.

    They are infinite without a token.
    """
    num_tokens = flops / (6 * num_params)
    values = {**fit.constants, "num_params": num_params, "num_tokens": num_tokens}
    return float(LOSS.of(values)) if num_tokens >= 1 else math.inf


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
        return estimated(N_("machine's FLOPs"), MACHINE, values, _MACHINE, 0.1, "FLOPs")
    return item(N_("machine's FLOPs"), MACHINE, values, unit="FLOPs", kind="bound", source=_MACHINE)
