"""How many numbers a second are encoded and decoded on one core, beside ml_dtypes and gfloat.

Everything runs in turns and is timed by the CPU seconds of its thread, so that a busy machine slows
all alike and little; a line shows the median of the turns and their spread. The goals: encode 10
million, decode 100 million values a second, for formats of 8 and 16 bits.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping

import gfloat
import gfloat.formats
import ml_dtypes
import numpy as np
import psutil

from core.dtypes import FORMATS

NUM_VALUES = 1 << 20
NUM_TURNS = 9
FORMAT_NAMES = (
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "int8",
    "float16",
    "bfloat16",
    "float32",
)
GOALS = {"encode": 10e6, "decode": 100e6}
GFLOAT = {
    "float8_e4m3fn": gfloat.formats.format_info_ocp_e4m3,
    "float8_e5m2": gfloat.formats.format_info_ocp_e5m2,
    "float16": gfloat.formats.format_info_binary16,
    "bfloat16": gfloat.formats.format_info_bfloat16,
}
Task = Callable[[], object]


def encoders(name: str, values: np.ndarray) -> Mapping[str, Task]:
    """Return who can encode to a format, as something to be called."""
    fmt, dtype = FORMATS[name], library_dtype(name)
    doubles = values.astype(np.float64)
    found: dict[str, Task] = {
        "ours": lambda: fmt.encode(values),
        "ours, stochastic": lambda: fmt.encode(values, "stochastic", rng=np.random.default_rng(0)),
        library_name(name): lambda: values.astype(dtype),
    }
    if name in GFLOAT:
        info = GFLOAT[name]
        found["gfloat"] = lambda: gfloat.encode_ndarray(info, gfloat.round_ndarray(info, doubles))
    return found


def decoders(name: str, codes: np.ndarray) -> Mapping[str, Task]:
    """Return who can decode a format, as something to be called."""
    fmt, typed = FORMATS[name], codes.view(library_dtype(name))
    found: dict[str, Task] = {
        "ours": lambda: fmt.decode(codes),
        library_name(name): lambda: typed.astype(np.float64),
    }
    if name in GFLOAT:
        info = GFLOAT[name]
        found["gfloat"] = lambda: gfloat.decode_ndarray(info, codes.astype(np.int64))
    return found


def library_dtype(name: str) -> np.dtype:
    """Return the numpy dtype of a format: numpy's own, else that of ml_dtypes."""
    return np.dtype(getattr(ml_dtypes, name, name))


def library_name(name: str) -> str:
    """Return whose cast that is; numpy's cast to integers cuts and wraps instead of rounding."""
    return "ml_dtypes" if hasattr(ml_dtypes, name) else "numpy"


def time_in_turns(tasks: Mapping[str, Task], num_turns: int) -> dict[str, list[float]]:
    """Return how many values a second each task handled, turn by turn."""
    rates: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()  # the first call builds tables
    for _turn in range(num_turns):
        for name, task in tasks.items():
            began = time.thread_time()
            task()
            rates[name].append(NUM_VALUES / (time.thread_time() - began))
    return rates


def show(name: str, action: str, rates: Mapping[str, list[float]]) -> None:
    """Print a line for each contestant."""
    goal = GOALS[action]
    for who, found in rates.items():
        middle = statistics.median(found)
        is_ours = who == "ours" and FORMATS[name].bits <= 16
        verdict = ("reached" if middle >= goal else "MISSED") if is_ours else ""
        target = f"goal {goal / 1e6:.0f}: {verdict}" if is_ours else ""
        low, high = min(found) / 1e6, max(found) / 1e6
        print(
            f"{name:16} {action:7} {who:17} {middle / 1e6:8.1f} Mvalues/s "
            f"({low:.1f} to {high:.1f})  {target}"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=NUM_TURNS, help="how often each is timed")
    arguments = parser.parse_args()
    values = np.random.default_rng(0).normal(0, 1, NUM_VALUES).astype(np.float32)
    print(f"{NUM_VALUES:,} values, {arguments.turns} turns; load {psutil.getloadavg()[0]:.1f}")
    for name in FORMAT_NAMES:
        show(name, "encode", time_in_turns(encoders(name, values), arguments.turns))
        codes = FORMATS[name].encode(values)
        show(name, "decode", time_in_turns(decoders(name, codes), arguments.turns))


if __name__ == "__main__":
    main()
