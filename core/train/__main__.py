"""The command line of a run: `python -m core.train start`, `list`, `export` and the rest."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from core.train.config import TrainConfig, setting
from core.train.control.commands import send
from core.train.control.ranks import SHARDINGS, Processes, processes_of
from core.train.export.script import SCRIPT_FILE, write_script
from core.train.export.weights import write_safetensors
from core.train.run import shelf
from core.train.run.directory import checkpoint_step, read_info, runs_directory
from core.train.run.disk import write_atomically
from core.train.run.reader import LEFT_OUT, RunReader
from core.train.run.records import COLUMNS, csv_lines, newest
from core.train.run.state import read_state, state_sentence
from core.train.start.bench import bench_lines
from core.train.start.fork import find_parent, prepare_fork, start_fork
from core.train.start.launch import resume_run, start_run
from core.train.start.plan import device_in_use, prepare
from core.train.start.presets import find_duration, preset_config
from core.train.start.timing import TimingError, predicted_timing

BY: Final = "terminal"
_RUNS: Final = "where runs are kept"

Act = Callable[[Namespace], Iterator[str]]


def _start(chosen: Namespace) -> Iterator[str]:
    duration = find_duration(chosen.preset)
    changes = dict(setting(text) for text in chosen.settings)
    if by_steps := "num_steps" in changes:
        changes.setdefault("max_seconds", None)
    asked = str(changes.get("device", "auto"))
    kind = device_in_use()[0] if asked == "auto" else asked
    config = TrainConfig.from_json({**preset_config(chosen.preset, kind).to_json(), **changes})
    seconds = None if by_steps else duration.seconds
    prepared = prepare(config)
    processes = Processes(count=chosen.processes or 1, sharding=chosen.sharding or SHARDINGS[0])
    run = start_run(
        prepared, seconds=seconds, runs_dir=chosen.runs, wait=chosen.wait, processes=processes
    )
    yield str(run)
    timing = predicted_timing(config, prepared.dataset.tokenizer.vocab_size)
    if timing and timing.gpu_trouble:
        yield timing.trouble_sentence()


def _resume(chosen: Namespace) -> Iterator[str]:
    state = read_state(_run(chosen))
    if state.is_final:
        before = processes_of(read_info(chosen.directory)["resolved"])
        processes = Processes(
            count=chosen.processes or before.count, sharding=chosen.sharding or before.sharding
        )
        resume_run(chosen.directory, wait=chosen.wait, by=BY, processes=processes)
        yield f"resuming from {state.state}"
    else:
        yield from _send(chosen)


def _fork(chosen: Namespace) -> Iterator[str]:
    parent = find_parent(_run(chosen), chosen.step)
    changes = dict(setting(text) for text in chosen.settings)
    if "num_steps" in changes:
        changes.setdefault("max_seconds", None)
    upload, name = None, ""
    if chosen.text:
        upload, name = chosen.text.read_bytes(), chosen.text.name
        changes["corpus"] = "upload"
    prepared = prepare_fork(parent, changes, upload, name)
    yield str(start_fork(parent, prepared, runs_dir=chosen.runs, wait=chosen.wait))


def _send(chosen: Namespace) -> Iterator[str]:
    yield f"command {send(_run(chosen), chosen.command, by=BY)} sent"


def _status(chosen: Namespace) -> Iterator[str]:
    state = read_state(_run(chosen))
    yield f"{state.state} step {state.step}"
    if state.gpu_name:
        yield f"on {state.gpu_name} ({state.gpu_uuid})"
    if state.message:
        yield state_sentence(state)


def _list(chosen: Namespace) -> Iterator[str]:
    for run in shelf.list_runs(chosen.runs or runs_directory()):
        if run.error:
            yield f"{run.name}  {run.error}"
            continue
        made = datetime.fromtimestamp(run.created, UTC).strftime("%Y-%m-%d %H:%M")
        steps, pinned = f"{run.step}/{run.num_steps or '?'}", "  (pinned)" if run.pinned else ""
        yield f"{run.name}  {made} UTC  {run.state:<8} {steps:>13}  {run.title}{pinned}"


def _export(chosen: Namespace) -> Iterator[str]:
    if chosen.script:
        write_script(_run(chosen), chosen.script)
        yield f"{SCRIPT_FILE} and its tokens written to {chosen.script}"
    elif chosen.safetensors:
        checkpoint = find_parent(_run(chosen), chosen.step).checkpoint
        size = write_safetensors(chosen.directory, checkpoint, chosen.safetensors)
        step = checkpoint_step(checkpoint)
        yield f"{size:,} bytes of step {step} written to {chosen.safetensors}"
    else:
        yield from _export_steps(chosen)


def _export_steps(chosen: Namespace) -> Iterator[str]:
    increment = RunReader(_run(chosen)).read_new()
    records = newest(increment.records)
    if chosen.csv:
        content: str | bytes = "".join(csv_lines(records))
    else:
        import pandas as pd

        table = pd.DataFrame({name: records[name] for name in COLUMNS})
        content = table.to_parquet(index=False)
    target = chosen.csv or chosen.parquet
    write_atomically(target, content)
    yield f"{len(records)} steps written to {target}"
    if increment.num_damaged:
        yield LEFT_OUT.format(count=f"{increment.num_damaged:,}")


def _rename(chosen: Namespace) -> Iterator[str]:
    shelf.rename(_run(chosen), chosen.title)
    yield f"renamed to {shelf.read_label(chosen.directory).title}"


def _pin(chosen: Namespace) -> Iterator[str]:
    shelf.pin(_run(chosen), pinned=chosen.command == "pin")
    yield f"{chosen.command}ned"


def _delete(chosen: Namespace) -> Iterator[str]:
    shelf.delete(chosen.directory.absolute(), force=chosen.force)
    yield f"deleted {chosen.directory}"


def _run(chosen: Namespace) -> Path:
    """Return the run directory that was named, made sure of."""
    chosen.directory = chosen.directory.absolute()
    read_info(chosen.directory)
    return Path(chosen.directory)


_SENT: Final = {
    "pause": "let the run wait after its step",
    "stop": "save and end",
    "go_back": "go on from the newest checkpoint with half the learning rate",
    "snapshot": "write what the allocator of a GPU does in the next step to the run directory",
}


def parser() -> ArgumentParser:
    """Return the parser of the command line; what it returns holds the function to `act`."""
    top = ArgumentParser(prog="python -m core.train", description=__doc__)
    verbs = top.add_subparsers(required=True, dest="command", metavar="COMMAND")

    def verb(name: str, act: Act, words: str, *, on_a_run: bool = True) -> ArgumentParser:
        added = verbs.add_parser(name, help=words)
        added.set_defaults(act=act)
        if on_a_run:
            added.add_argument("directory", type=Path, metavar="RUN_DIR")
        return added

    _add_starts(verb)
    listed = verb("list", _list, "print the runs, newest first", on_a_run=False)
    listed.add_argument("--runs", type=Path, metavar="DIR", help=_RUNS)
    verb("status", _status, "print the state and the step")
    for op, words in _SENT.items():
        verb(op, _send, words)
    verb("pin", _pin, "protect the run from deletion")
    verb("unpin", _pin, "lift that protection")
    export = verb("export", _export, "write the steps, the weights, or a script that trains them")
    export.add_argument("--step", type=int, help="of the weights; the newest if left out")
    kinds = export.add_mutually_exclusive_group(required=True)
    for kind in ("--csv", "--parquet", "--safetensors"):
        kinds.add_argument(kind, type=Path, metavar="FILE")
    kinds.add_argument("--script", type=Path, metavar="FOLDER")
    verb("rename", _rename, "give the run a title").add_argument("title")
    delete = verb("delete", _delete, "delete the run and all that is in it")
    delete.add_argument("--force", action="store_true", help="even if it is pinned")
    times = "time nanoGPT's CPU shape"
    bench = verb("bench", lambda it: bench_lines(it.peer, it.pairs), times, on_a_run=False)
    bench.add_argument("--peer", type=Path, metavar="NANOGPT_CLONE", help="time it beside this")
    bench.add_argument("--pairs", type=int, default=9, help="interleaved repetitions")
    return top


def _add_starts(verb: Callable[..., ArgumentParser]) -> None:
    start = verb("start", _start, "start a run and print its directory", on_a_run=False)
    start.add_argument("--preset", default="one-minute", help="one-minute, ten-minutes, class-hour")
    fork = verb("fork", _fork, "go on from a checkpoint as a new run, with settings of its own")
    fork.add_argument("--step", type=int, help="of the checkpoint; the newest if left out")
    fork.add_argument("--text", type=Path, metavar="FILE", help="another text to learn from")
    resume = verb("resume", _resume, "go on, also after a stop or a crash")
    for each in (start, fork):
        each.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", dest="settings"
        )
        each.add_argument("--runs", type=Path, metavar="DIR", help=_RUNS)
    for each in (start, fork, resume):
        each.add_argument(
            "--wait", action="store_true", help="if the device is busy, stand in line"
        )
    for each in (start, resume):
        each.add_argument(
            "--processes", type=int, metavar="N", help="train in N processes (torchrun)"
        )
        each.add_argument("--sharding", choices=SHARDINGS, help="how they share the model")


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    chosen = parser().parse_args(arguments)
    try:
        for line in chosen.act(chosen):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    except (ValueError, OSError, TimingError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
