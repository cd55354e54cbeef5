"""Does each preset of Compare recipes show a gap wider than the spread of its seeds, in a minute?

`python -m benchmarks.recipes [PRESET ...]` races each preset on five seeds with one thread and
prints a table; it ends with status 1 if a preset shows nothing or takes too long. With `--record`
it writes the first seed's results where the page shows them.
"""

import json
import resource
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from core.train.recipes.choices import PRESETS, Preset
from core.train.recipes.results import RECORDING, Result, gap, run_race

SEEDS: Final = (1337, 1, 2, 3, 4)
MOST_SECONDS: Final = 60.0


def main(*words: str) -> int:
    """Race the presets that are named, else all; the first seed of each first."""
    names = [word for word in words if word != "--record"] or list(PRESETS)
    raced: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for seed in SEEDS:
        for name in names:
            results, seconds = _race(PRESETS[name], seed)
            raced[name].append((gap(results, PRESETS[name].gap), seconds))
            print(f"  {name}, seed {seed}: {raced[name][-1][0]:.4g}", file=sys.stderr, flush=True)
            if "--record" in words and seed == SEEDS[0]:
                _record(name, results)
    print(f"{'preset':<15} {'gap':>12} {'from':>12} {'to':>12} {'spread':>10} {'CPU s':>6}")
    verdicts = [_told(name, found) for name, found in raced.items()]
    return int(not all(verdicts))


def _told(name: str, found: Sequence[tuple[float, float]]) -> bool:
    """Print the row of a preset; return whether it is one."""
    gaps, seconds = [each for each, _seconds in found], max(seconds for _gap, seconds in found)
    middle, spread = statistics.median(gaps), max(gaps) - min(gaps)
    is_good = abs(middle) > spread and seconds <= MOST_SECONDS
    cells = "".join(f" {value:>12.4g}" for value in (middle, min(gaps), max(gaps)))
    verdict = "" if is_good else "  FAILED"
    print(f"{name:<15}{cells} {spread:>10.3g} {seconds:>6.1f}{verdict}", flush=True)
    return is_good


def _record(name: str, results: Sequence[Result]) -> None:
    """Write the results of a preset where the page shows them, beside those that are there."""
    kept = {}
    if RECORDING.is_file():
        kept = json.loads(RECORDING.read_text(encoding="utf-8"))["presets"]
    rows = {"presets": kept | {name: [_row(result) for result in results]}}
    written = json.dumps(rows, separators=(",", ":"))
    RECORDING.write_text(written + "\n", encoding="utf-8", newline="\n")


def _race(preset: Preset, seed: int) -> tuple[list[Result], float]:
    """Return the results and the CPU seconds: those of a quiet machine, for it has one thread."""
    before = _cpu_seconds()
    results: list[Result] = []
    for grown in run_race(replace(preset.comparison, seed=seed), threads=1):
        results = list(grown)
    return results, _cpu_seconds() - before


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _row(result: Result) -> dict[str, Any]:
    """Return a result as it is kept: three digits are enough for a picture."""
    row = asdict(result)
    for name, digits in (("losses", 3), ("validation", 4), ("seconds", 3), ("lost", 4)):
        row[name] = [None if value is None else round(value, digits) for value in row[name]]
    return row


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
