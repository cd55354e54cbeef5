"""How long training takes: compute, communication that is not hidden, and the pipeline's bubble."""

from typing import Final

from core.budget.check import check_range
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.language import N_

SECONDS: Final = Formula("6 * num_params * num_tokens / (num_devices * flops_per_second * mfu)")
SIX_ND: Final = N_("6 FLOPs for each parameter and token; Kaplan et al. 2020, section 2.1")
MOST: Final = 10**20


def training_seconds(
    num_params: int, num_tokens: int, num_devices: int, flops_per_second: float, mfu: float
) -> float:
    """Return the seconds of training by the 6ND rule.

    >>> round(training_seconds(70 * 10**9, 15 * 10**12, 1024, 989.5e12, 0.5) / 86_400, 2)
    143.93

    Args:
        num_params: Parameters of the model; the active ones of a mixture of experts.
        num_tokens: Tokens that training sees.
        num_devices: Devices that share the work.
        flops_per_second: Dense peak of one of them, in the dtype of the products.
        mfu: Share of the peak that is used for the model's own FLOPs.

    Raises:
        ValueError: If a number is not positive, or `mfu` is not in (0, 1].
    """
    return float(seconds_item(num_params, num_tokens, num_devices, flops_per_second, mfu).amount)


def seconds_item(
    num_params: int, num_tokens: int, num_devices: int, flops_per_second: float, mfu: float
) -> Item:
    """Return `training_seconds` with its formula.

    Raises:
        ValueError: As `training_seconds`.
    """
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
    return item(
        "training time", SECONDS, values, unit="s", source=SIX_ND, kind="estimated", band=0.1
    )
