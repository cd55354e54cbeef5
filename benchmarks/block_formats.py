"""How many values a second pass through each block format and back, on one core.

Prints the median of several repeats and their spread; a peer (torchao, bitsandbytes), where there
is one, is timed in turns with ours on the same tensor and a single thread.
"""

import argparse
import logging
import os
import statistics
import time
import warnings
from collections.abc import Callable, Mapping

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported

import numpy as np
import torch

from core.dtypes import BLOCK_FORMATS

ELEMENTS = {
    "mxfp8_e4m3": torch.float8_e4m3fn,
    "mxfp8_e5m2": torch.float8_e5m2,
    "mxfp6_e2m3": "fp6_e2m3",
    "mxfp6_e3m2": "fp6_e3m2",
    "mxfp4": torch.float4_e2m1fn_x2,
}
RoundTrip = Callable[[], object]


def torchao_peers(x: torch.Tensor) -> Mapping[str, RoundTrip]:
    """Return the round trips of torchao, eager, by the name of our row."""
    from torchao.prototype.mx_formats.mx_tensor import to_dtype, to_mx

    def round_trip(element: object) -> object:
        scales, codes = to_mx(x, element, 32)
        return to_dtype(codes, scales, element, 32, torch.float32)

    return {name: lambda element=element: round_trip(element) for name, element in ELEMENTS.items()}


def bitsandbytes_peers(x: torch.Tensor) -> Mapping[str, RoundTrip]:
    """Return the round trips of bitsandbytes by the name of our row."""
    from bitsandbytes.functional import dequantize_4bit, quantize_4bit

    def round_trip(double_quant: bool) -> object:
        codes, state = quantize_4bit(x, quant_type="nf4", compress_statistics=double_quant)
        return dequantize_4bit(codes, state)

    return {"nf4": lambda: round_trip(False), "nf4_double_quant": lambda: round_trip(True)}


def seconds(round_trip: RoundTrip) -> float:
    """Return how long one call takes."""
    begin = time.perf_counter()
    round_trip()
    return time.perf_counter() - begin


def rate(num_values: int, times: list[float]) -> str:
    """Return the median in million values a second, and the slowest and fastest repeat."""
    middle, slow, fast = (
        num_values / span / 10**6 for span in (statistics.median(times), max(times), min(times))
    )
    return f"{middle:7.1f} ({slow:.1f} to {fast:.1f})"


def main() -> None:
    """Time every row of the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, default=1 << 20)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")  # both peers warn about kernels for devices that are not here
    x = np.random.default_rng(0).normal(0, 0.02, (options.values // 1024, 1024)).astype(np.float32)
    peers = {**torchao_peers(torch.tensor(x)), **bitsandbytes_peers(torch.tensor(x))}
    print(f"{x.size:,} values there and back; million values/s, median (slowest to fastest)")
    print(f"{'':<24}{'ours':<26}torchao / bitsandbytes")
    for name, block in BLOCK_FORMATS.items():
        trips = [lambda block=block: block.round(x), *([peers[name]] if name in peers else [])]
        for trip in trips:  # tables are made and kernels loaded
            trip()
        times = [[seconds(trip) for trip in trips] for _ in range(options.repeats)]
        columns = [rate(x.size, list(column)) for column in np.array(times).T.tolist()]
        print(f"{name:<24}{columns[0]:<26}{columns[1] if len(columns) > 1 else '-'}")


if __name__ == "__main__":
    main()
