"""The largest model whose training state fills a number of devices: memory beside compute."""

from typing import Final

from core.budget.check import check_range
from core.budget.cluster import DeviceSpec
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.language import N_

LARGEST: Final = Formula("num_devices * memory // bytes_each")
_STATES: Final = N_("weights, gradients and optimizer states shared out; no activations")


def largest_by_states(num_devices: int, device: DeviceSpec, bytes_each: int) -> Item:
    """Return the parameters whose states fill the memory as it is sold.

    Args:
        num_devices: Devices that share the states.
        device: What each of them is.
        bytes_each: Bytes of state for each parameter: 16 with AdamW in fp32, 12 with bf16 weights.

    Raises:
        ValueError: If a number is not positive.
    """
    check_range("num_devices", num_devices, 1, 10**9)
    check_range("bytes_each", bytes_each, 1, 1000)
    values = {
        "num_devices": num_devices,
        "memory": int(device.memory_sold),
        "bytes_each": bytes_each,
    }
    return item(N_("largest model"), LARGEST, values, unit="parameters", source=_STATES)
