"""Measures the steps that Step profiler shows before anybody has measured: on a quiet machine.

`python -m benchmarks.record_profiler` writes them into core/train/recordings/profiler.
"""

import json
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from core.train.profiler import __main__ as child
from core.train.profiler.measure import Subject
from core.train.profiler.results import RECORDED

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
        with tempfile.TemporaryDirectory() as name:
            folder, kept = Path(name), f"{what}-{subject.size}-{precision}"
            child.answer(what, STEPS, child.open_trainer(subject), folder)
            found = json.loads((folder / f"{what}.json").read_text(encoding="utf-8"))
            found["where"]["date"] = datetime.now(UTC).date().isoformat()
            text = json.dumps(found, separators=(",", ":"))
            (RECORDED / f"{kept}.json").write_text(text, encoding="utf-8")
            if what == "operators":
                trace = folder / f"{what}.trace.json.gz"
                shutil.copy(trace, RECORDED / f"{kept}.trace.json.gz")
        print(kept)


if __name__ == "__main__":
    main()
