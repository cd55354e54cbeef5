"""How fast a device really multiplies and copies. Needs torch: call it in a child process."""

import statistics
import time
from collections.abc import Callable

from core.machine.records import Speed


def measure_matmul(device: str, dtype: str, *, size: int = 1024, num_runs: int = 7) -> Speed:
    """Time C = A B for square matrices of `size`: 2 size**3 FLOPs each (a multiply and an add).

    Returns:
        FLOP/s as the median of `num_runs` after one warm-up.

    Raises:
        ValueError: `size` or `num_runs` is not positive.
    """
    import torch

    _require_positive(size=size, num_runs=num_runs)
    a = torch.randn(size, size, device=device).to(getattr(torch, dtype))
    b = torch.randn(size, size, device=device).to(getattr(torch, dtype))
    seconds = _times(lambda: torch.matmul(a, b), device, num_runs)
    return _speed(f"matmul {dtype}", "FLOP/s", 2 * size**3, seconds)


def measure_copy(device: str, *, num_bytes: int = 64 * 1024**2, num_runs: int = 7) -> Speed:
    """Time a copy that is larger than the caches: each byte is read once and written once.

    Returns:
        B/s moved (2 `num_bytes` a copy) as the median of `num_runs` after one warm-up.

    Raises:
        ValueError: `num_bytes` or `num_runs` is not positive.
    """
    import torch

    _require_positive(num_bytes=num_bytes, num_runs=num_runs)
    source = torch.zeros(num_bytes, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    seconds = _times(lambda: target.copy_(source), device, num_runs)
    return _speed("copy", "B/s", 2 * num_bytes, seconds)


def _times(act: Callable[[], object], device: str, num_runs: int) -> list[float]:
    act()
    _wait(device)
    seconds = []
    for _run in range(num_runs):
        start = time.perf_counter()
        act()
        _wait(device)  # an accelerator answers before it is done
        seconds.append(time.perf_counter() - start)
    return seconds


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


def _require_positive(**values: int) -> None:
    for name, value in values.items():
        if value < 1:
            message = f"{name} is {value}; it must be at least 1"
            raise ValueError(message)
