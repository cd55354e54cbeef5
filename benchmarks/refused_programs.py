"""Random programs that torch refuses because a saved tensor was changed: who is blamed, what runs.

    python benchmarks/refused_programs.py [--count 300] [--seed 0]

Each is compared with torch itself: without the writes that are named it runs, without all of them
but one it does not, and every rewrite runs (tests/core/autograd/made_programs.py).
"""

import argparse
import random
import time

from tests.core.autograd.made_programs import check_refused, refused_program


def main() -> None:
    """Print how many were refused, how many writes were blamed, how many were rewritten."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    dice = random.Random(asked.seed)  # noqa: S311  no secret
    began = time.thread_time()
    seen = check_refused(refused_program(dice) for _turn in range(asked.count))
    seconds = time.thread_time() - began
    for what, count in sorted(seen.items()):
        print(f"{what:>12}: {count}")
    print(f"{1000 * seconds / asked.count:.0f} ms of processor time each")


if __name__ == "__main__":
    main()
