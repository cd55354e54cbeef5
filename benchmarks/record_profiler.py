"""Measures the steps that Step profiler shows before anybody has measured: on a quiet machine.

`python -m benchmarks.record_profiler` writes them into core/train/recordings/profiler.
"""

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from core.train.profiler import __main__ as child
from core.train.profiler.measure import Subject
from core.train.profiler.results import RECORDED, write_result

STEPS = 3
ROWS = (
    ("anatomy", "fp32"),
    ("item", "fp32"),
    ("compile", "fp32"),
    ("operators", "fp32"),
    ("numbers", "fp32"),
    ("numbers", "pure_bf16"),
)


def main() -> None:
    """Record every row."""
    for what, precision in ROWS:
        subject = Subject(precision=precision)
        kept, today = f"{what}-{subject.size}-{precision}", datetime.now(UTC).date().isoformat()
        with tempfile.TemporaryDirectory() as folder:
            found = child.answer(what, STEPS, child.open_trainer(subject), Path(folder))
        dated = replace(found, where=replace(found.where, date=today))
        write_result(kept, dated, RECORDED)
        print(kept)


if __name__ == "__main__":
    main()
