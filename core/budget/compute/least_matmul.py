"""The least time of a matrix product on known devices, and a table of times that cannot be."""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.check import check_range
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.language import N_

LEAST: Final = Formula("2 * n ** 3 / flops_per_second")
SHOWN: Final = ("t4", "rtx-4090", "a100-80gb", "h100-sxm", "b200", "mi300x", "m4-max")
CLAIMED_SIZE: Final = 4096
CLAIMED_DEVICE: Final = "rtx-4090"
# A tutorial's table of 4096 x 4096 products: 2,749 TFLOP/s on the GPU, 9.2 TFLOP/s on the CPU.
CLAIMS: Final[Mapping[str, float]] = {"RTX 4090": 0.05e-3, N_("a laptop's CPU"): 15e-3}
_SOURCE: Final = N_("2 n³ FLOPs at the dense peak: nothing is faster")


def least_seconds(size: int, dtype: str) -> tuple[Item, ...]:
    """Return for some devices the least seconds of an n x n product; a device is the item's name.

    Devices without a known peak in the dtype are left out.

    Raises:
        ValueError: If the size is not positive.
    """
    check_range("size", size, 1, 10**7)
    devices = [DEVICES[key] for key in SHOWN]
    return tuple(
        item(
            device.name, LEAST, {"n": size, "flops_per_second": device.peak[dtype]},
            unit="s", source=_SOURCE,
        )
        for device in devices
        if device.peak.get(dtype)
    )  # fmt: skip
