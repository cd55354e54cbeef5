"""What each command of the command line does; every one yields the lines that it prints."""

import os
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from core.train import shelf
from core.train.bench import bench_lines
from core.train.config import TrainConfig
from core.train.control import send
from core.train.disk import storage_error
from core.train.info import read_info
from core.train.launch import resume_run, start_run
from core.train.listing import list_runs
from core.train.presets import find_duration, preset_config
from core.train.reader import RunReader
from core.train.records import csv_lines, newest
from core.train.rundir import runs_directory
from core.train.state import read_state, state_sentence

BY: Final = "terminal"


def _start(chosen: Namespace) -> Iterator[str]:
    duration = find_duration(chosen.preset)
    changes = dict(setting(text) for text in chosen.settings)
    config = TrainConfig.from_json({**preset_config(chosen.preset).to_json(), **changes})
    seconds = None if "num_steps" in changes else duration.seconds
    yield str(start_run(config, seconds=seconds, runs_dir=chosen.runs, wait=chosen.wait))


def setting(text: str) -> tuple[str, object]:
    """Return key and value of KEY=VALUE; numbers become numbers, none becomes nothing.

    >>> setting("num_layers=4"), setting("max_steps_per_second=none")
    (('num_layers', 4), ('max_steps_per_second', None))

    Raises:
        ValueError: there is no equals sign.
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is no setting; write KEY=VALUE, such as num_layers=4.")
    if value.lower() == "none":
        return key, None
    for kind in (int, float):
        try:
            return key, kind(value)
        except ValueError:
            continue
    return key, value


def _resume(chosen: Namespace) -> Iterator[str]:
    state = read_state(_run(chosen))
    if state.is_final:
        resume_run(chosen.directory, wait=chosen.wait, by=BY)
        yield f"resuming from {state.state}"
    else:
        yield from _send(chosen)


def _send(chosen: Namespace) -> Iterator[str]:
    yield f"command {send(_run(chosen), chosen.command, by=BY)} sent"


def _status(chosen: Namespace) -> Iterator[str]:
    state = read_state(_run(chosen))
    yield f"{state.state} step {state.step}"
    if state.message:
        yield state_sentence(state)


def _list(chosen: Namespace) -> Iterator[str]:
    for run in list_runs(chosen.runs or runs_directory()):
        if run.error:
            yield f"{run.name}  {run.error}"
            continue
        made = datetime.fromtimestamp(run.created, UTC).strftime("%Y-%m-%d %H:%M")
        steps, pinned = f"{run.step}/{run.num_steps}", "  (pinned)" if run.pinned else ""
        yield f"{run.name}  {made} UTC  {run.state:<8} {steps:>13}  {run.title}{pinned}"


def _export(chosen: Namespace) -> Iterator[str]:
    records = newest(RunReader(_run(chosen)).read_new().records)
    temporary = chosen.csv.with_name(f"{chosen.csv.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(records))
        temporary.replace(chosen.csv)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise storage_error(chosen.csv, error) from error
    yield f"{len(records)} steps written to {chosen.csv}"


def _rename(chosen: Namespace) -> Iterator[str]:
    shelf.rename(_run(chosen), chosen.title)
    yield f"renamed to {shelf.read_label(chosen.directory).title}"


def _pin(chosen: Namespace) -> Iterator[str]:
    shelf.pin(_run(chosen), pinned=chosen.command == "pin")
    yield f"{chosen.command}ned"


def _delete(chosen: Namespace) -> Iterator[str]:
    shelf.delete(chosen.directory.absolute(), force=chosen.force)
    yield f"deleted {chosen.directory}"


def _bench(chosen: Namespace) -> Iterable[str]:
    return bench_lines(chosen.peer, chosen.pairs)


def _run(chosen: Namespace) -> Path:
    """Return the run directory that was named, made sure of.

    Raises:
        ValueError: it holds no run, or one of a newer version of this app.
    """
    chosen.directory = chosen.directory.absolute()
    read_info(chosen.directory)
    return Path(chosen.directory)


COMMANDS: Final[Mapping[str, Callable[[Namespace], Iterable[str]]]] = {
    "start": _start,
    "resume": _resume,
    "pause": _send,
    "stop": _send,
    "status": _status,
    "list": _list,
    "export": _export,
    "rename": _rename,
    "pin": _pin,
    "unpin": _pin,
    "delete": _delete,
    "bench": _bench,
}
