"""Products and copies timed on a device. Needs torch: runs in a child process.

`python -m core.machine.matmul_trial 2048 float32` times a product as one should, and as one should
not: it prints one line of JSON for each call: the first one, calls that the clock does not wait
for, and calls that it waits for. An accelerator takes a call and answers at once; only the wait
shows how long the product takes. What the probe measures waits always.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict

from core.machine.kept_probe import Speed
from core.machine.matmul_timing import CALLS, TIMED_DTYPES, MatmulCall


def trial(size: int, dtype: str, num_runs: int) -> Iterator[MatmulCall]:
    """Yield the calls as they are timed, on the first accelerator, else on the CPU.

    Raises:
        ValueError: If the dtype is not one that is timed.
    """
    import torch

    if dtype not in TIMED_DTYPES:
        raise ValueError(f"dtype {dtype!r} is not timed; use one of: {', '.join(TIMED_DTYPES)}")
    found = torch.accelerator.current_accelerator()
    device = found.type if found is not None and torch.accelerator.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else device
    a = torch.randn(size, size, device=device).to(getattr(torch, dtype))
    b = torch.randn(size, size, device=device).to(getattr(torch, dtype))

    def wait() -> None:
        if device != "cpu":
            torch.accelerator.synchronize()

    def act() -> object:
        return a @ b

    for kind in CALLS:
        for _run in range(1 if kind == "first" else num_runs):
            wait()
            seconds = _seconds(act, wait if kind != "not waiting" else None)
            yield MatmulCall(kind=kind, seconds=seconds, device=name)
        wait()


def measure_matmul(device: str, dtype: str, *, size: int = 1024, num_runs: int = 7) -> Speed:
    """Time C = A B for square matrices of `size`: 2 size**3 FLOPs each (a multiply and an add).

    The rate is the median of `num_runs` after one warm-up.
    """
    import torch

    a = torch.randn(size, size, device=device).to(getattr(torch, dtype))
    b = torch.randn(size, size, device=device).to(getattr(torch, dtype))
    seconds = _times(lambda: torch.matmul(a, b), device, num_runs)
    return _speed(f"matmul {dtype}", "FLOP/s", 2 * size**3, seconds)


def measure_copy(device: str, *, num_bytes: int = 64 * 1024**2, num_runs: int = 7) -> Speed:
    """Time a copy that is larger than the caches: each byte is read once and written once.

    B/s moved are 2 `num_bytes` a copy, the median of `num_runs` after one warm-up.
    """
    import torch

    source = torch.zeros(num_bytes, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    seconds = _times(lambda: target.copy_(source), device, num_runs)
    return _speed("copy", "B/s", 2 * num_bytes, seconds)


def _seconds(act: Callable[[], object], wait: Callable[[], None] | None) -> float:
    start = time.perf_counter()
    act()
    if wait is not None:
        wait()
    return time.perf_counter() - start


def _times(act: Callable[[], object], device: str, num_runs: int) -> list[float]:
    act()
    _wait(device)
    # an accelerator answers before it is done
    return [_seconds(act, lambda: _wait(device)) for _run in range(num_runs)]


def _wait(device: str) -> None:
    import torch

    if device != "cpu":
        torch.accelerator.synchronize(device)


def _speed(what: str, unit: str, amount: float, seconds: list[float]) -> Speed:
    return Speed(
        what=what,
        unit=unit,
        median=amount / statistics.median(seconds),
        low=amount / max(seconds),
        high=amount / min(seconds),
        num_runs=len(seconds),
    )


def _main(arguments: list[str]) -> None:
    size, dtype, num_runs = int(arguments[0]), arguments[1], int(arguments[2])
    for call in trial(size, dtype, num_runs):
        sys.stdout.write(json.dumps(asdict(call)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main(sys.argv[1:])
