"""Devices as they are sold (devices.toml), as the reader describes them, and the one at hand."""

from typing import Any, Final

from core.budget.catalogue.usable_memory import CUDA_CONTEXT, usable_memory
from core.budget.cluster import DeviceSpec
from core.budget.table import read_table
from core.language import N_, _
from core.machine import Probe
from core.units import GIB

READ: Final = "2026-11"
CUSTOM: Final = N_("as typed in")
MEASURED: Final = N_("measured on this computer; its links are taken as PCIe 3 with 16 lanes")
_LOCAL_HOST_LINK: Final = 16e9  # core.machine does not measure links

_LINKS: Final = ("link", "pair_link", "host_link")


def _sold(row: dict[str, Any]) -> DeviceSpec:
    """Return the device of a row; only on NVIDIA's does a process keep a context of its own."""
    gib, tflops = row.pop("gib"), row.pop("tflops")
    has_context = row["maker"] == "NVIDIA"
    left = usable_memory(row, gib).at_most(gib)
    if has_context:
        left = left.less_a_context()
    return DeviceSpec(
        peak={dtype: amount * 1e12 for dtype, amount in tflops.items()},
        memory_sold=gib * GIB,
        memory_usable=left.num_bytes,
        memory_known=left.evidence,
        context=CUDA_CONTEXT if has_context else 0,
        bandwidth=row.pop("gb_per_second") * 1e9,
        **{name: row.pop(name, 0) * 1e9 for name in _LINKS},
        **{"date": READ} | row,
    )


DEVICES: Final = {key: _sold(row) for key, row in read_table(__file__).items()}
"""Key, as in a link -> device; those of one maker together."""


def sold_as(product_name: str) -> DeviceSpec | None:
    """Return the card as it is sold; None if no row is known to be this very product.

    >>> sold_as("NVIDIA H100 80GB HBM3").name, sold_as("NVIDIA A10G")
    ('H100 SXM', None)
    """
    name = product_name.removeprefix("NVIDIA ")  # older drivers write none
    return next((each for each in DEVICES.values() if name and each.product_name == name), None)


def custom_device(
    *,
    name: str = "",
    memory: float,
    flops_per_second: float,
    bandwidth: float,
    link: float = 32e9,
    host_link: float = 32e9,
) -> DeviceSpec:
    """Return a device that the reader describes: bytes, bytes/s, and dense FLOP/s in 16 bits.

    The links are those of PCIe 4 with 16 lanes until the reader says otherwise.

    Raises:
        ValueError: If a number is negative or beyond any device; the sentence names it.
    """
    return DeviceSpec(
        name=name or _("custom device"),
        peak={"bfloat16": flops_per_second, "float16": flops_per_second},
        memory_sold=memory,
        memory_usable=memory,
        bandwidth=bandwidth,
        link=link,
        host_link=host_link,
        source=CUSTOM,
        date=READ,
        kind="custom",
        known="claimed",
    )


def local_device(probe: Probe) -> DeviceSpec:
    """Return the device at hand: its memory and its measured speeds, not a data sheet's.

    Where the probe was made without timing, the speeds are 0. What is free was read by a process
    that had its context already; where only the whole memory is known, the context goes off.
    """
    device = probe.best_device
    free = device.memory_free or device.memory_total or 0
    is_cuda = device.kind == "cuda" and probe.rocm is None
    context = CUDA_CONTEXT if is_cuda and not device.memory_free else 0
    rates = {speed.what: speed.median for speed in device.speeds}
    is_host = device.kind in {"cpu", "mps"}  # the host's memory is the device's
    return DeviceSpec(
        name=device.name,
        peak={
            what.removeprefix("matmul "): rate
            for what, rate in rates.items()
            if what.startswith("matmul ")
        },
        memory_sold=device.memory_total or 0,
        memory_usable=max(0.0, free - context),
        context=context,
        bandwidth=rates.get("copy", 0),
        link=_LOCAL_HOST_LINK,
        host_link=rates.get("copy", 0) if is_host else _LOCAL_HOST_LINK,
        source=MEASURED,
        date=READ,
        kind="measured",
        known="measured",
    )
