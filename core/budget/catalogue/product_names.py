"""What a card calls itself, as torch and NVML write it -> the row of its data sheet.

Only names that mean one row: an A10G, an RTX 4090 D or a slice of a card is none of these. Rows
whose speeds are recalled, not read, are left out.
"""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import DeviceSpec

PRODUCT_NAMES: Final[Mapping[str, str]] = {
    "Tesla T4": "t4",
    "Tesla V100-SXM2-32GB": "v100-32gb",
    "GeForce RTX 4090": "rtx-4090",
    "GeForce RTX 5090": "rtx-5090",
    "A10": "a10",
    "L4": "l4",
    "L40S": "l40s",
    "A100-SXM4-40GB": "a100-40gb",
    "A100-SXM4-80GB": "a100-80gb",
    "H100 PCIe": "h100-pcie",
    "H100 80GB HBM3": "h100-sxm",
    "H200": "h200-sxm",
    "B200": "b200",
    "GB200": "gb200",
}


def sold_as(product_name: str) -> DeviceSpec | None:
    """Return the card as it is sold; None if no row is known to be this very product.

    >>> sold_as("NVIDIA H100 80GB HBM3").name, sold_as("NVIDIA H100 NVL")
    ('H100 SXM', None)
    """
    key = PRODUCT_NAMES.get(product_name.removeprefix("NVIDIA "))  # older drivers write none
    return DEVICES[key] if key else None
