"""What a card calls itself, as torch and NVML write it -> its row in DEVICES.

Only names that mean one row: an A10G, an RTX 4090 D or a slice of a card is none of these, and an
RTX 3060 has 8 or 12 GB under one name. Where the rates are no data sheet's, `known` says so.
"""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import DeviceSpec

PRODUCT_NAMES: Final[Mapping[str, str]] = {
    "Tesla T4": "t4",
    "Tesla V100-SXM2-32GB": "v100-32gb",
    "GeForce RTX 3090": "rtx-3090",
    "GeForce RTX 4070": "rtx-4070",
    "GeForce RTX 4080": "rtx-4080",
    "GeForce RTX 4090": "rtx-4090",
    "GeForce RTX 5080": "rtx-5080",
    "GeForce RTX 5090": "rtx-5090",
    "RTX A6000": "rtx-a6000",
    "RTX 6000 Ada Generation": "rtx-6000-ada",
    "A10": "a10",
    "L4": "l4",
    "L20": "l20",
    "L40S": "l40s",
    "A100-PCIE-40GB": "a100-pcie-40gb",
    "A100 80GB PCIe": "a100-pcie-80gb",
    "A100-SXM4-40GB": "a100-40gb",
    "A100-SXM4-80GB": "a100-80gb",
    "A800-SXM4-80GB": "a800-80gb",
    "H20": "h20",
    "H100 PCIe": "h100-pcie",
    "H100 NVL": "h100-nvl",
    "H100 80GB HBM3": "h100-sxm",
    "H800": "h800-sxm",
    "GH200 480GB": "gh200-96gb",
    "H200": "h200-sxm",
    "B200": "b200",
    "B300 SXM6 AC": "b300-sxm",
    "GB200": "gb200",
}


def sold_as(product_name: str) -> DeviceSpec | None:
    """Return the card as it is sold; None if no row is known to be this very product.

    >>> sold_as("NVIDIA H100 80GB HBM3").name, sold_as("NVIDIA A10G")
    ('H100 SXM', None)
    """
    key = PRODUCT_NAMES.get(product_name.removeprefix("NVIDIA "))  # older drivers write none
    return DEVICES[key] if key else None
