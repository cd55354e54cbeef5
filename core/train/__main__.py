"""The command line of a run: `python -m core.train start|status|pause|resume|stop`."""

import argparse
import sys
from pathlib import Path

from core.train.config import TrainConfig
from core.train.control import send
from core.train.launch import resume_run, start_run
from core.train.presets import find_duration, preset_config
from core.train.state import read_state
from core.train.timing import TimingError


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m core.train", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="start a run and print its directory")
    start.add_argument("--preset", default="one-minute", help="one-minute, ten-minutes, class-hour")
    start.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    start.add_argument("--runs", type=Path, help="where runs are kept")
    for name, words in (
        ("status", "print the state and the step"),
        ("pause", "let the run wait after its step"),
        ("resume", "go on, also after a stop or a crash"),
        ("stop", "save and end"),
    ):
        commands.add_parser(name, help=words).add_argument("directory", type=Path)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    chosen = parser().parse_args(arguments)
    try:
        sys.stdout.write(_answer(chosen) + "\n")
    except (ValueError, OSError, TimingError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _answer(chosen: argparse.Namespace) -> str:
    if chosen.command == "start":
        return str(_start(chosen.preset, chosen.settings, chosen.runs))
    state = read_state(chosen.directory)
    if chosen.command == "status":
        return f"{state.state} step {state.step}"
    if chosen.command == "resume" and state.is_final:
        resume_run(chosen.directory)
        return f"resuming from {state.state}"
    return f"command {send(chosen.directory, chosen.command, by='terminal')} sent"


def _start(preset: str, settings: list[str], runs_dir: Path | None) -> Path:
    duration = find_duration(preset)
    changes = dict(_setting(text) for text in settings)
    config = TrainConfig.from_json({**preset_config(preset).to_json(), **changes})
    seconds = None if "num_steps" in changes else duration.seconds
    return start_run(config, seconds=seconds, runs_dir=runs_dir)


def _setting(text: str) -> tuple[str, object]:
    """Return key and value of KEY=VALUE; numbers become numbers, none becomes nothing."""
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


if __name__ == "__main__":
    sys.exit(main())
