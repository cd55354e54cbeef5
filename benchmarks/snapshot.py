"""How a memory snapshot of 200 MB is read, with stacks of sixty frames, as torch writes them."""

import pickle
import resource
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from core.budget.diagnosis.snapshot.answer import as_snapshot, read_in_child

NUM_EVENTS: Final = 619_500  # 200 MB
NUM_LAYERS: Final = 500
_FREES: Final = ("free_requested", "free_completed")


def make(path: Path) -> None:
    """Write steps that allocate a block for each layer, then free them."""
    frames = [{"name": f"f{n}", "filename": f"/a/{n}.py", "line": n} for n in range(540)]
    stacks = [[frames[(n + 7 * k) % 540] for k in range(60)] for n in range(NUM_LAYERS)]
    step = [("alloc", n) for n in range(NUM_LAYERS)]
    step += [(action, n) for n in range(NUM_LAYERS) for action in _FREES]
    events: list[dict[str, Any]] = [
        {"action": action, "addr": (1 << 40) + (n << 30), "size": 4000 * (n + 1), "stream": 0,
         "time_us": number, "compile_context": "N/A", "frames": list(stacks[n])}
        for number in range(NUM_EVENTS // len(step)) for action, n in step
    ]  # fmt: skip
    block = {"address": 1 << 40, "size": 1 << 30, "state": "inactive", "frames": []}
    segment = {"device": 0, "address": 1 << 40, "total_size": 1 << 30, "blocks": [block]}
    path.write_bytes(pickle.dumps({"segments": [segment], "device_traces": [events]}))


def main() -> None:
    """Print what one reading takes; more of them would not fit into a short while."""
    with tempfile.TemporaryDirectory() as folder:
        make(path := Path(folder) / "snapshot.pickle")
        begin = time.perf_counter()
        answers = read_in_child(path, seconds=120)
        first = as_snapshot(next(answers))
        seen = time.perf_counter() - begin
        told = as_snapshot(answers)
        seconds, used = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{path.stat().st_size / 1e6:.0f} MB, {sum(told.actions.values()):,} events")
        print(f"{first.num_segments} segments told after {seen:.1f} s, goal 3 with their picture")
        print(f"read in {seconds:.1f} s, goal 10; {used.ru_utime + used.ru_stime:.1f} s of CPU")
        print(f"{used.ru_maxrss / 2**10:.0f} MiB at most, goal 1,536")  # Linux counts in KiB


if __name__ == "__main__":
    main()
