"""A simulated step in a separate process: progress line by line, the report last.

python -m core.budget.simulation "$CASE"     # a line of core.budget.simulation.cases.write_case
"""

import sys
import time

from core.budget.simulation.cases import read_case
from core.budget.simulation.step import simulate_step
from core.budget.simulation.timeline import report_of, write_report

_EVERY_SECONDS = 0.2


class Progress:
    """Prints phase and module a few times a second."""

    def __init__(self) -> None:
        self._next = 0.0

    def tell(self, phase: str, module: str) -> None:
        """Print where the step is, unless that was done just now."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EVERY_SECONDS
            sys.stdout.write(f"{phase}\t{module}\n")
            sys.stdout.flush()


def main(case: str) -> None:
    """Simulate one case and print its report."""
    spec, recipe = read_case(case)
    start = time.monotonic()
    timeline = simulate_step(spec, recipe, Progress().tell)
    sys.stdout.write(write_report(report_of(timeline, time.monotonic() - start)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
