"""A simulated step in a separate process: progress line by line, the report last.

python -m core.budget.simulation "$CASE"     # a line of core.budget.simulation.cases.write_case
"""

import sys
import time

from core.budget.simulation.cases import read_case
from core.budget.simulation.step import simulate_step
from core.budget.simulation.timeline import report_of, write_report

_EVERY_SECONDS = 0.2


def main(case: str) -> None:
    """Simulate one case, print phase and module a few times a second, and its report last."""
    spec, recipe = read_case(case)
    start = next_told = time.monotonic()

    def tell(phase: str, module: str) -> None:
        nonlocal next_told
        now = time.monotonic()
        if now >= next_told:
            next_told = now + _EVERY_SECONDS
            sys.stdout.write(f"{phase}\t{module}\n")
            sys.stdout.flush()

    timeline = simulate_step(spec, recipe, tell)
    sys.stdout.write(write_report(report_of(timeline, time.monotonic() - start)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
