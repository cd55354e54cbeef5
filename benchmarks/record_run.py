"""Train presets again as recorded runs, which Live training shows before there is a run.

python -m benchmarks.record_run [PRESET ...]   # as long as the preset; then commit the files
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from core.machine import describe_machine
from core.train.run.directory import EVENTS_FILE, INFO_FILE, METRICS_FILE, STATE_FILE
from core.train.run.disk import to_json
from core.train.run.reader import RunReader
from core.train.run.recorded import RECORDED, pack, recorded_path
from core.train.run.records import Records, pack_header
from core.train.run.state import RunState, read_state
from core.train.start.launch import start_run
from core.train.start.plan import Wish, plan_run
from core.train.start.presets import find_duration

MOST_WHOLE: Final = 4000  # steps that are all kept: more than a minute has on two cores
MOST_KEPT: Final = 800  # of a longer run
_LOOK_SECONDS: Final = 0.5


def record(wish: Wish, folder: Path) -> Path:
    """Train what is wished for, by the worker that trains every run, and return its directory.

    Raises:
        RuntimeError: If it did not come to its end.
    """
    seconds = find_duration(wish.duration).seconds
    directory = start_run(plan_run(wish), seconds=seconds, runs_dir=folder)
    while not (state := read_state(directory, time.time())).is_final:
        time.sleep(_LOOK_SECONDS)
    if state.state != "finished":
        raise RuntimeError(f"the run {state.state} at step {state.step}: {state.message}")
    return directory


def contents(directory: Path, made: datetime) -> dict[str, bytes]:
    """Return the files of a run that a reader needs, without what tells of this machine.

    When it was made stands in the label.
    """
    info = json.loads((directory / INFO_FILE).read_bytes())
    machine = describe_machine()
    kind = f"{machine.architecture.replace('_', '-')} CPU"
    info["resolved"] |= {"device_name": kind}
    records, every = thinned(RunReader(directory).read_new().records)
    info["recorded"] = {
        "machine": kind,
        "cores": machine.usable_cores,
        "date": f"{made:%Y-%m-%d}",
        "every": every,
    }
    state: dict[str, Any] = asdict(read_state(directory)) | {"pid": None}
    return {
        INFO_FILE: to_json(info).encode(),
        STATE_FILE: to_json(asdict(RunState(**state))).encode(),
        METRICS_FILE: pack_header() + records.tobytes(),
        EVENTS_FILE: (directory / EVENTS_FILE).read_bytes(),
    }


def thinned(records: Records) -> tuple[Records, int]:
    """Return so few steps that a file holds them, and of how many each stands for one.

    Short runs keep every step; of longer ones the first, the last and every nth between them stay.
    """
    if len(records) <= MOST_WHOLE:
        return records, 1
    every = -(-len(records) // MOST_KEPT)
    kept = records["step"] % every == 0
    kept[[0, -1]] = True
    return records[kept], every


def main(arguments: list[str] | None = None, folder: Path = RECORDED) -> None:
    """Write a file for each preset that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", default=["one_minute"], metavar="PRESET")
    for preset in parser.parse_args(arguments).presets:
        with tempfile.TemporaryDirectory() as runs:
            directory = record(Wish(duration=preset), Path(runs))
            files = contents(directory, datetime.now(UTC))
        path = recorded_path(preset, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pack(directory.name, files))
        sys.stderr.write(f"{path.name}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
