"""Sums of every s-th element of one buffer, timed. Runs in a child process, on one thread.

`python -m core.tensors.strided_trial NUM_BYTES NUM_ROUNDS STRIDE ...` prints a line of JSON for
each call, round by round; every second round goes backwards, so that no stride always comes after
the same one.

Why apart: the number of threads is one for a whole process, and the server's is not ours to change.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence


def trial(num_bytes: int, num_rounds: int, strides: Sequence[int]) -> Iterator[tuple[int, float]]:
    """Yield stride and seconds of each call; one round before them warms up and is not told."""
    import torch

    buffer = torch.ones(num_bytes // 4)
    for number in range(num_rounds + 1):
        for stride in strides if number % 2 else reversed(strides):
            began = time.perf_counter()
            buffer[::stride].sum()
            ended = time.perf_counter()
            if number:
                yield stride, ended - began


def _main(arguments: list[str]) -> None:
    import torch

    torch.set_num_threads(1)
    num_bytes, num_rounds, *strides = map(int, arguments)
    for stride, seconds in trial(num_bytes, num_rounds, strides):
        sys.stdout.write(json.dumps({"stride": stride, "seconds": seconds}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main(sys.argv[1:])
