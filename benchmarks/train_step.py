"""How long a step of nanoGPT's CPU shape takes, ours in fp32 and auto; `--peer` adds a clone."""

import argparse
import os
from pathlib import Path

from core.train.start.bench import bench_lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    named = os.environ.get("PEER")  # as `make bench PEER=path` passes it on
    parser.add_argument("--peer", type=Path, default=Path(named) if named else None)
    parser.add_argument("--pairs", type=int, default=7)
    chosen = parser.parse_args()
    for line in bench_lines(chosen.peer, chosen.pairs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
