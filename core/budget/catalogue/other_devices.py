"""Devices of other makers: AMD's, Google's TPUs, Apple's computers with shared memory."""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.device_row import sold, tensor_cores
from core.budget.cluster import DeviceSpec
from core.language import N_

_TPU: Final = N_("Austin et al. 2025, How to Scale Your Model; only v5e checked with Google")
_APPLE: Final = N_("Apple prints no FLOP/s: recalled from measurements; memory as Metal allows it")

OTHERS: Final[Mapping[str, DeviceSpec]] = {
    "mi250x": sold(
        "MI250X (one of two GCDs)",  # torch shows each GCD as a device of its own
        tensor_cores(bf16=191.5, fp16=191.5, fp32=23.9, int8=191.5),
        gib=64,
        reported_mib=65_520,
        gb_per_second=1638,
        link=200,
        host_link=32,
        source=N_("AMD MI250X data sheet, halved for one GCD; recalled, not checked again"),
        driver_mib=0,
    ),
    "mi300x": sold(
        "MI300X",
        tensor_cores(bf16=1307, fp16=1307, tf32=654, fp32=163, fp8=2615, int8=2615),
        gib=192,
        reported_mib=196_592,
        gb_per_second=5300,
        link=448,
        host_link=64,
        source=N_("AMD MI300X data sheet; rates but FP8 recalled, not checked again"),
        driver_mib=0,
        sparsity=True,
    ),
    "mi355x": sold(
        "MI355X",
        tensor_cores(bf16=2517, fp16=2517, fp32=157, fp8=5033, fp4=10_066, int8=5033),
        gib=288,
        reported_mib=294_896,
        gb_per_second=8000,
        link=537.6,
        host_link=64,
        source=N_("AMD MI355X data sheet; recalled, not checked again"),
        driver_mib=0,
        sparsity=True,
    ),
    "tpu-v5e": sold(
        "TPU v5e",
        tensor_cores(bf16=197, int8=393),
        gib=16,
        reported_mib=16_128,
        gb_per_second=819,
        link=45,
        host_link=16,
        source=_TPU,
        driver_mib=0,
    ),
    "tpu-v5p": sold(
        "TPU v5p",
        tensor_cores(bf16=459, int8=918),
        gib=96,
        reported_mib=98_038,
        gb_per_second=2800,
        link=90,
        host_link=16,
        source=_TPU,
        driver_mib=0,
    ),
    "tpu-v6e": sold(
        "TPU v6e",
        tensor_cores(bf16=920, int8=1840),
        gib=32,
        reported_mib=32_000,
        gb_per_second=1600,
        link=90,
        host_link=32,
        source=_TPU,
        driver_mib=0,
    ),
    "m2-max": sold(
        "M2 Max (96 GB)",
        tensor_cores(bf16=13.6, fp16=13.6, fp32=13.6),
        gib=96,
        reported_mib=73_728,  # Metal recommends three quarters of the shared memory
        gb_per_second=400,
        link=5,  # Thunderbolt 4
        host_link=400,  # the host's memory is the device's
        source=_APPLE,
        driver_mib=0,
    ),
    "m4-max": sold(
        "M4 Max (128 GB)",
        tensor_cores(bf16=18, fp16=18, fp32=18),
        gib=128,
        reported_mib=98_304,
        gb_per_second=546,
        link=10,  # Thunderbolt 5
        host_link=546,
        source=_APPLE,
        driver_mib=0,
    ),
}
