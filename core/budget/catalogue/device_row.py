"""One line of a device table: figures as a data sheet prints them, turned into bytes and FLOP/s."""

from typing import Final

from core.budget.cluster import DeviceSpec
from core.units import GIB, MIB

READ: Final = "2026-11"
# What NVIDIA's driver keeps for itself: of the 81,559 MiB that nvidia-smi reports for an H100,
# torch sees 79.1 GiB; of a B200's 183,359 MiB 178.35 GiB (pytorch/ao#4002). A process's own
# context comes on top and is an item of its budget.
DRIVER_MIB: Final = 512


def sold(  # noqa: PLR0913  one argument for each column of the data sheet
    name: str,
    tflops: dict[str, float],
    *,
    gib: int,
    reported_mib: int,
    gb_per_second: float,
    link: float,
    host_link: float,
    source: str,
    driver_mib: int = DRIVER_MIB,
    sparsity: bool = False,
) -> DeviceSpec:
    """Return a device as it is sold.

    Args:
        name: As its maker writes it.
        tflops: Dtype -> dense TFLOP/s (int8: TOP/s) with fp32 accumulation, never the sparse one.
        gib: Memory on the box. Makers write "GB" and count in 2**30.
        reported_mib: Memory that nvidia-smi, rocm-smi, JAX or Metal reports.
        gb_per_second: Memory bandwidth in 10**9 bytes/s.
        link: To another device of the same machine, GB/s in one direction (data sheets print both
            directions together).
        host_link: To the host, GB/s in one direction.
        source: Where the row comes from, a message id.
        driver_mib: What the driver keeps of that for itself.
        sparsity: Whether the sheet also prints rates with 2:4 sparsity.
    """
    return DeviceSpec(
        name=name,
        peak={dtype: amount * 1e12 for dtype, amount in tflops.items()},
        memory_sold=gib * GIB,
        memory_usable=(reported_mib - driver_mib) * MIB,
        bandwidth=gb_per_second * 1e9,
        link=link * 1e9,
        host_link=host_link * 1e9,
        source=source,
        date=READ,
        sparsity=sparsity,
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
