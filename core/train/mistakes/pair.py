"""Both sides of a switch: run in a process of their own, or as they were recorded."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from core.language import _
from core.machine.child import lines_of
from core.train.mistakes.rows import Rows, rows_of
from core.train.mistakes.switches import NUM_SEEDS, SIDES, SWITCHES, SideName

Pair = Mapping[SideName, Rows]
SECONDS: Final = 180.0
_RECORDING: Final = Path(__file__).parents[1] / "recordings" / "mistakes.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """Pairs of another machine, for whoever has not run them yet."""

    date: str
    num_cores: int
    seed: int
    pairs: Mapping[str, Pair]


@cache
def recorded_pairs() -> Recorded:
    """Return the recording that ships with the app, as `benchmarks/break_it.py` wrote it."""
    data = json.loads(_RECORDING.read_text(encoding="utf-8"))
    pairs = {key: pair_of(pair) for key, pair in data["pairs"].items()}
    return Recorded(**{**data, "pairs": pairs})


def pair_of(data: Mapping[str, Any]) -> Pair:
    """Return the rows of both sides that JSON made plain."""
    return {side: rows_of(data[side]) for side in SIDES}


def run_pair(key: str, seed: int, tell: Callable[[SideName, float], None]) -> Pair:
    """Return both sides of a switch, trained in a fresh process; takes seconds.

    `tell` is given the side and the share of its steps that are done.

    Raises:
        ValueError: If there is no such switch or seed, or the process failed or was not done in
            time.
    """
    if key not in SWITCHES:
        message = _("There is no mistake {key!r}; choose one of {known}.")
        raise ValueError(message.format(key=key, known=_(", ").join(SWITCHES)))
    if not 0 <= seed < NUM_SEEDS:
        message = _("The seed is {seed}; choose a number from 0 to {last}.")
        raise ValueError(message.format(seed=seed, last=NUM_SEEDS - 1))
    told: dict[str, Any] = {}
    for line in lines_of("core.train.mistakes.trial", [key, str(seed)], seconds=SECONDS):
        told = json.loads(line)
        if "step" in told:
            tell(told["side"], told["step"] / told["num_steps"])
    return pair_of(told)
