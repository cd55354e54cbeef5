"""What tensors can fill on a device, as pages and pictures write it."""

from core.budget.catalogue.devices import DEVICES
from core.units import format_bytes


def usable(device: str) -> str:
    """Return the usable memory of a device of the catalogue: "78.6 GiB"."""
    return format_bytes(DEVICES[device].memory_usable)
