"""The FLOP/s that a run's MFU is measured by: of the data sheet, else of a product timed here."""

from typing import Any

from core.budget.catalogue.devices import sold_as
from core.budget.cluster import product_dtype
from core.machine import cached_probe
from core.machine.nvml import visible_gpus
from core.train.start.timing import Timing


def peak_of_run(timing: Timing) -> dict[str, Any]:
    """Return the peak and where it comes from, as run.json has them; empty if it is not known.

    A slice of a card has a part of its speed, and nobody prints which: never the data sheet's.
    """
    sheet = sold_as(timing.device_name) if timing.device == "cuda" and not _is_slice() else None
    if sheet and (timing.precision != "fp32" or "float32" in sheet.peak):
        dtype = product_dtype(sheet, timing.precision)
        peak, source = sheet.peak[dtype], str(sheet.known_of(dtype))
    else:
        peak, source = _measured(timing), "measured"
    return {"peak_flops_per_second": peak, "peak_source": source} if peak else {}


def _is_slice() -> bool:
    return any(gpu.is_slice for gpu in visible_gpus())


def _measured(timing: Timing) -> float:
    """Return the rate of the product that the probe timed in the run's dtype; 0 if it timed none.

    On a CPU only with as many threads as the run has: another number of cores is another device.
    """
    probe = cached_probe()
    if probe is None or (timing.device == "cpu" and probe.num_threads != timing.threads):
        return 0.0
    dtype = {"fp32": "float32", "fp16": "float16"}.get(timing.precision, "bfloat16")
    for device in probe.devices:
        is_same = timing.device != "cuda" or device.name == timing.device_name
        if is_same and device.torch_name.partition(":")[0] == timing.device:
            rates = {speed.what: speed.median for speed in device.speeds}
            return rates.get(f"matmul {dtype}", 0.0)
    return 0.0
