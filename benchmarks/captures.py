"""How long a capture takes: of the programs that are offered, and of graphs that are built.

    PYTHONPATH=. python benchmarks/captures.py [--times 20] [--threads 1]

Per call, after a warm-up: median, middle half and longest of the wall time, and the median of this
thread's CPU time, which is nearly all of it with one thread: on a busy machine it says more. A
graph that is built is timed as the page does it, and again without making the module and
foretelling its memory; beside it stands the same forward and backward pass without a capture.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import torch

from core.autograd.built_graphs import BUILT_GRAPHS, GPT2_BLOCK, Made, capture_built
from core.autograd.capture import capture
from core.autograd.forward import Limits
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program
from core.models.build import Block
from core.models.kernels import KERNELS

GOALS_MS: Final = {"mlp": 20, "gpt": 250}
BLOCK_GOAL_MS: Final = 60  # of a block as wide as the small GPT; GPT-2's has 7 million weights
PROGRAM_GOAL_MS: Final = 5


Times = list[tuple[float, float]]  # wall and CPU, in ms


def milliseconds(action: Callable[[], object], times: int) -> Times:
    """Return the times of an action, after two that do not count."""
    spent = []
    for _ in range(times + 2):
        wall, cpu = time.perf_counter(), time.thread_time()
        action()
        spent.append(((time.perf_counter() - wall) * 1000, (time.thread_time() - cpu) * 1000))
    return spent[2:]


def show(what: str, spent: Times, goal: float | None = None) -> None:
    """Print one row."""
    walls = [wall for wall, _cpu in spent]
    own = statistics.median(cpu for _wall, cpu in spent)
    low, median, high = statistics.quantiles(walls, n=4, method="inclusive")
    said = f"< {goal:g}: {'yes' if median < goal else 'NO'}" if goal else ""
    numbers = "".join(f"{each:>9.2f}" for each in (median, low, high, max(walls), own))
    print(f"{what:<46}{numbers} {said}", flush=True)


def programs(times: int) -> None:
    """Time every program that is offered."""
    spent = {
        key: milliseconds(lambda row=row: capture_program(row.source, row.tensors()), times)  # type: ignore[misc]
        for key, row in PRESETS.items()
    }
    show(f"a program, all {len(spent)}", [each for row in spent.values() for each in row],
         PROGRAM_GOAL_MS)  # fmt: skip
    medians = {key: statistics.median(wall for wall, _cpu in row) for key, row in spent.items()}
    slowest = sorted(medians, key=lambda key: medians[key], reverse=True)
    for key in slowest[:3]:
        show(f"    {key}", spent[key], PROGRAM_GOAL_MS)


def graphs(times: int) -> None:
    """Time the graphs that are built, at the number that they begin with."""
    for key, row in BUILT_GRAPHS.items():
        number = row.default
        spent = milliseconds(lambda row=row: capture_built(row, row.default), times)  # type: ignore[misc]
        nodes = len(capture_built(row, number).nodes)
        show(f"{key}, {row.number.lower()} {number}: {nodes} nodes", spent, GOALS_MS.get(key))
        made = row.make(number)
        show("    capture alone", milliseconds(lambda made=made: captured(made), times))  # type: ignore[misc]
        show("    forward and backward, plain", milliseconds(lambda made=made: plain(made), times))  # type: ignore[misc]


def small_blocks(times: int) -> None:
    """Time a block 64 wide on 4 sequences of 32 tokens, with both kinds of attention."""
    spec = replace(GPT2_BLOCK, hidden_dim=64, num_heads=4, num_kv_heads=4, head_dim=16, ffn_dim=256)
    for name in ("cpu", "megatron"):
        block, x = Block(spec, 0, KERNELS[name]), torch.randn(4, 32, 64)
        made = Made(function=lambda x, b=block: b(x, None).sum(), leaves={"x": x}, module=block)
        spent = milliseconds(lambda made=made: captured(made), times)  # type: ignore[misc]
        show(f"a block 64 wide, kernels of {name}", spent, BLOCK_GOAL_MS)
        show("    forward and backward, plain", milliseconds(lambda made=made: plain(made), times))  # type: ignore[misc]


def captured(made: Made) -> object:
    """Capture what is made already, with as few values as the page keeps."""
    return capture(made.function, made.leaves, made.module, limits=Limits(num_values=64))


def plain(made: Made) -> None:
    """Run what is made, forward and backward, as a training step does."""
    if made.module is not None:
        made.module.zero_grad()
    made.function(**made.leaves).backward()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    times = options.times
    torch.set_num_threads(options.threads)
    warnings.simplefilter("ignore")  # torch's own, of create_graph
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; ms")
    heads = ("median", "25 %", "75 %", "longest", "CPU")
    print(f"{'':<46}{''.join(f'{head:>9}' for head in heads)} goal")
    programs(times)
    small_blocks(times)
    graphs(times)


if __name__ == "__main__":
    main()
