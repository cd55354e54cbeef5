"""Moving bytes: over the link to the host, to a neighbour, and from a device's own memory."""

from typing import Final

from core.budget.check import check_range
from core.budget.cluster import DeviceSpec
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.language import N_

SECONDS: Final = Formula("num_bytes / bytes_per_second")
_SHEET: Final = N_("the data sheet's bandwidth: no transfer is faster")


def transfer_seconds(num_bytes: float, device: DeviceSpec) -> tuple[Item, ...]:
    """Return the least seconds from the host, from another device, from the device's memory.

    A link that the device does not have is left out.

    Raises:
        ValueError: If there are no bytes.
    """
    check_range("num_bytes", num_bytes, 1, 1e18)
    links = (
        (N_("from the host"), device.host_link),
        (N_("from another device"), device.link),
        (N_("from its own memory"), device.bandwidth),
    )
    return tuple(
        item(
            name, SECONDS, {"num_bytes": num_bytes, "bytes_per_second": speed},
            unit="s", source=_SHEET,
        )
        for name, speed in links
        if speed
    )  # fmt: skip
