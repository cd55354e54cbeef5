"""Time a matrix product as one should, and as one should not. Needs torch: runs in a child.

`python -m core.machine.matmul_trial 2048 float32` prints one line of JSON for each call: the first
one, calls that the clock does not wait for, and calls that it waits for. An accelerator takes a
call and answers at once; only the wait shows how long the product takes.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator

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


def _seconds(act: Callable[[], object], wait: Callable[[], None] | None) -> float:
    start = time.perf_counter()
    act()
    if wait is not None:
        wait()
    return time.perf_counter() - start


def _main(arguments: list[str]) -> None:
    size, dtype, num_runs = int(arguments[0]), arguments[1], int(arguments[2])
    for call in trial(size, dtype, num_runs):
        sys.stdout.write(json.dumps(call.to_json()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main(sys.argv[1:])
