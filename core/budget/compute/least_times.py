"""The least time of a matrix product and of a transfer: nothing is faster than the data sheet."""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.check import check_range
from core.budget.cluster import DeviceSpec
from core.budget.item import Formula, Item, estimated, item
from core.language import N_

LEAST: Final = Formula("2 * n ** 3 / flops_per_second")
SHOWN: Final = ("t4", "rtx-4090", "a100-80gb", "h100-sxm", "b200", "mi300x", "m4-max")
READ: Final = Formula("2 * n ** 3 / launch_seconds")
LAUNCH_SECONDS: Final = 10e-6
"""What it takes about to put a product into a GPU's queue; the GPU works on it later."""
CLAIMED_SIZE: Final = 4096
CLAIMED_DEVICE: Final = "rtx-4090"
# A tutorial's table of 4096 x 4096 products: 2,749 TFLOP/s on the GPU, 9.2 TFLOP/s on the CPU.
CLAIMS: Final[Mapping[str, float]] = {"RTX 4090": 0.05e-3, N_("a laptop's CPU"): 15e-3}
_SOURCE: Final = N_("2 n³ FLOPs at the dense peak: a lower bound on time")
SECONDS: Final = Formula("num_bytes / bytes_per_second")
_EXAMPLE: Final = N_("an example: about 10 µs pass until a call is in the queue of a GPU")
_SHEET: Final = N_("at the data sheet's bandwidth: a lower bound on time")


def least_seconds(size: int, dtype: str) -> tuple[Item, ...]:
    """Return for some devices the least seconds of an n x n product; a device is the item's name.

    Devices without a known peak in the dtype are left out.

    Raises:
        ValueError: If the size is not positive.
    """
    check_range("size", size, 1, 10**7)
    devices = [DEVICES[key] for key in SHOWN if DEVICES[key].peak.get(dtype)]
    return tuple(
        item(
            device.name, LEAST, {"n": size, "flops_per_second": device.peak[dtype]},
            unit="s", kind=device.limit(dtype), source=_SOURCE,
        )
        for device in devices
    )  # fmt: skip


def read_without_waiting(size: int) -> Item:
    """Return the FLOP/s that a clock shows which stops when the product is queued, not done.

    >>> f"{read_without_waiting(2048).amount:.3g}"
    '1.72e+15'

    Raises:
        ValueError: If the size is not positive.
    """
    check_range("size", size, 1, 10**7)
    values = {"n": size, "launch_seconds": LAUNCH_SECONDS}
    return estimated(N_("read without waiting"), READ, values, _EXAMPLE, 0.0, "FLOP/s")


def transfer_seconds(num_bytes: float, device: DeviceSpec) -> tuple[Item, ...]:
    """Return the least seconds from the host, from another device, from the device's memory.

    A link that the device does not have is left out.

    Raises:
        ValueError: If there are no bytes.
    """
    check_range("num_bytes", num_bytes, 1, 1e18)
    links = (
        (N_("from the host"), "host_link", device.host_link),
        (N_("from another device"), "link", device.link_among(2)),
        (N_("from its own memory"), "bandwidth", device.bandwidth),
    )
    return tuple(
        item(
            name, SECONDS, {"num_bytes": num_bytes, "bytes_per_second": speed},
            unit="s", kind=device.limit(which), source=_SHEET,
        )
        for name, which, speed in links
        if speed
    )  # fmt: skip
