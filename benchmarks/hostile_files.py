"""What files cost that nobody should bring to Diagnose: the slowest of a thousand, and the memory.

Every 200th is as large as the page takes; each row is read in a process of its own.
"""

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.measuring import ROOT

READER = (sys.executable, "-m", "tests.core.budget.diagnosis.hostile_files")


def main() -> None:
    """Read files of two sorts by two seeds and print a row for each."""
    print(f"{'files':<10} {'seed':>4} {'tracebacks':>10} {'slowest, CPU s':>14} {'MB':>5}")
    for what, seed in (("brought", "1"), ("brought", "2"), ("snapshots", "1"), ("snapshots", "2")):
        with tempfile.TemporaryDirectory() as folder:
            found = subprocess.check_output(
                [*READER, what, "1000", seed],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
            )
        told = json.loads(found)
        seconds, number, begin = told["slowest"]
        row = f"{what:<10} {seed:>4} {len(told['faults']):>10} {seconds:>14.2f}"
        print(f"{row} {told['megabytes']:>5}  {number}: {begin[:50]}", flush=True)


if __name__ == "__main__":
    main()
