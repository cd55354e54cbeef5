"""From the columns of a data sheet to a device."""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.usable_memory import CUDA_CONTEXT, Usable
from core.budget.cluster import DeviceSpec
from core.budget.item import Kind
from core.units import GIB

READ: Final = "2026-11"


def sold(  # noqa: PLR0913  one argument for each column of the data sheet
    name: str,
    tflops: dict[str, float],
    *,
    maker: str,
    gib: int,
    usable: Usable,
    gb_per_second: float,
    link: float,
    host_link: float,
    source: str,
    product_name: str = "",
    pair_link: float = 0,
    joined: int = 0,
    peer_to_peer: bool = True,
    has_context: bool = True,
    sparsity: bool = False,
    known: Kind = "data sheet",
    doubts: Mapping[str, Kind] | None = None,
) -> DeviceSpec:
    """Return a device as it is sold.

    Args:
        name: As its maker writes it.
        tflops: Dtype -> dense TFLOP/s (int8: TOP/s) with fp32 accumulation, never the sparse one.
        maker: Who sells it.
        gib: Memory on the box. Makers write "GB" and count in 2**30.
        usable: What a process sees of it.
        gb_per_second: Memory bandwidth in 10**9 bytes/s.
        link: GB/s in one direction to the other devices of the machine, all of the device's links
            together (data sheets print both directions together).
        host_link: To the host, GB/s in one direction.
        source: Where the row comes from, a message id.
        product_name: What torch and NVML call it, where that means this one row.
        pair_link: Of these GB/s, those to one other device; 0 if it gets all of them.
        joined: How many devices the links join; 0 for all of a machine.
        peer_to_peer: Whether devices reach each other without the host's memory.
        has_context: Whether a process keeps a CUDA context of its own there.
        sparsity: Whether the sheet also prints rates with 2:4 sparsity.
        known: "claimed" where rates are recalled and no sheet was at hand.
        doubts: Speeds that the source knows less well, each with how.
    """
    left = usable.at_most(gib)
    if has_context:
        left = left.less_a_context()
    return DeviceSpec(
        name=name,
        maker=maker,
        peak={dtype: amount * 1e12 for dtype, amount in tflops.items()},
        memory_sold=gib * GIB,
        memory_usable=left.num_bytes,
        memory_known=left.evidence,
        context=CUDA_CONTEXT if has_context else 0,
        bandwidth=gb_per_second * 1e9,
        link=link * 1e9,
        host_link=host_link * 1e9,
        pair_link=pair_link * 1e9,
        joined=joined,
        peer_to_peer=peer_to_peer,
        source=source,
        product_name=product_name,
        date=READ,
        sparsity=sparsity,
        known=known,
        doubts=doubts or {},
    )


def tensor_cores(  # noqa: PLR0913  one argument for each dtype of the data sheet
    *,
    bf16: float = 0,
    fp16: float = 0,
    tf32: float = 0,
    fp32: float = 0,
    fp8: float = 0,
    fp4: float = 0,
    int8: float = 0,
) -> dict[str, float]:
    """Return dtype -> dense TFLOP/s, without the dtypes that the device does not multiply."""
    columns = {
        "bfloat16": bf16,
        "float16": fp16,
        "tf32": tf32,
        "float32": fp32,
        "fp8": fp8,
        "fp4": fp4,
        "int8": int8,
    }
    return {dtype: amount for dtype, amount in columns.items() if amount}
