"""Is each mistake of Break it found by its finding, and does none fire on a healthy run?

    python -m benchmarks.break_it [--seeds 5] [--switch KEY ...] [--record]

Runs both sides of each switch with each seed and prints a table; exits with 1 if a row is wrong: a
mistake that its finding misses, a finding that fires for something else, a healthy run with a
finding, or a curve that does otherwise than the page says. `--record` writes the runs of the first
seed to core/train/recordings/mistakes.json, which Break it shows before anything was run.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from core.train.config import TrainConfig
from core.train.mistakes.findings import find, outcome_of
from core.train.mistakes.pair import Pair
from core.train.mistakes.rows import Rows
from core.train.mistakes.switches import SIDES, SWITCHES, config_of
from core.train.mistakes.trial import run_trial
from core.train.text.dataset import build_dataset

FIRST_SEED = 1337
RECORDING = Path(__file__).parents[1] / "core" / "train" / "recordings" / "mistakes.json"


def run_table(keys: Sequence[str], num_seeds: int) -> tuple[int, dict[str, Pair]]:
    """Print a row for each switch and seed; return how many are wrong and the first seed's runs."""
    dataset, healthy, firsts, wrong = build_dataset(TrainConfig()), dict[TrainConfig, Rows](), {}, 0
    found_of_all = 0
    for seed in range(FIRST_SEED, FIRST_SEED + num_seeds):
        for key in keys:
            began = time.perf_counter()
            config = config_of(SWITCHES[key], "healthy", seed)
            if config not in healthy:
                healthy[config] = run_trial(config, dataset)
            broken = run_trial(config_of(SWITCHES[key], "broken", seed), dataset)
            names, alarms = [each.name for each in find(broken)], find(healthy[config])
            outcome = outcome_of(healthy[config], broken)
            is_right = names == [key] and not alarms and outcome == SWITCHES[key].outcome
            wrong, found_of_all = wrong + (not is_right), found_of_all + (key in names)
            if seed == FIRST_SEED:
                firsts[key] = {"healthy": healthy[config], "broken": broken}
            print(
                f"{key:18} seed {seed}  found {', '.join(names) or 'nothing':20} "
                f"healthy {', '.join(each.name for each in alarms) or 'nothing':10} "
                f"curve {outcome:11} {time.perf_counter() - began:5.1f} s"
                f"{'' if is_right else '   WRONG'}",
                flush=True,
            )
    print(f"{found_of_all}/{len(keys) * num_seeds} mistakes found by their finding; "
          f"{sum(map(bool, map(find, healthy.values())))} of {len(healthy)} healthy runs "
          f"with one; {wrong} rows wrong")  # fmt: skip
    return wrong, firsts


def record(pairs: dict[str, Pair]) -> None:
    """Write the runs, their numbers to six digits."""
    data = {
        "date": datetime.now(UTC).date().isoformat(),
        "num_cores": os.cpu_count(),
        "seed": FIRST_SEED,
        "pairs": {
            key: {side: _short(asdict(pair[side])) for side in SIDES} for key, pair in pairs.items()
        },
    }
    RECORDING.write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")


def _short(value: Any) -> Any:  # noqa: ANN401  whatever JSON holds
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--switch", nargs="*", choices=list(SWITCHES), default=list(SWITCHES))
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    wrong, firsts = run_table(asked.switch, asked.seeds)
    if asked.record:
        record(firsts)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
