"""The command line of a run: `python -m core.train start`, `list`, `export` and the rest."""

import argparse
import sys
from pathlib import Path

from core.train import commands
from core.train.timing import TimingError

ON_ONE_RUN = (
    ("status", "print the state and the step"),
    ("pause", "let the run wait after its step"),
    ("stop", "save and end"),
    ("pin", "protect the run from deletion"),
    ("unpin", "lift that protection"),
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m core.train", description=__doc__)
    verbs = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    start = verbs.add_parser("start", help="start a run and print its directory")
    start.add_argument("--preset", default="one-minute", help="one-minute, ten-minutes, class-hour")
    start.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    start.add_argument("--runs", type=Path, metavar="DIR", help="where runs are kept")
    start.add_argument("--wait", action="store_true", help="if the device is busy, stand in line")
    listed = verbs.add_parser("list", help="print the runs, newest first")
    listed.add_argument("--runs", type=Path, metavar="DIR", help="where runs are kept")
    for name, words in ON_ONE_RUN:
        _on_a_run(verbs.add_parser(name, help=words))
    resume = _on_a_run(verbs.add_parser("resume", help="go on, also after a stop or a crash"))
    resume.add_argument("--wait", action="store_true", help="if the device is busy, stand in line")
    export = _on_a_run(verbs.add_parser("export", help="write the steps as CSV"))
    export.add_argument("--csv", type=Path, required=True, metavar="FILE")
    rename = _on_a_run(verbs.add_parser("rename", help="give the run a title"))
    rename.add_argument("title")
    delete = _on_a_run(verbs.add_parser("delete", help="delete the run and all that is in it"))
    delete.add_argument("--force", action="store_true", help="even if it is pinned")
    bench = verbs.add_parser("bench", help="time nanoGPT's CPU shape")
    bench.add_argument("--peer", type=Path, metavar="NANOGPT_CLONE", help="time it beside this")
    bench.add_argument("--pairs", type=int, default=9, help="interleaved repetitions")
    return top


def _on_a_run(verb: argparse.ArgumentParser) -> argparse.ArgumentParser:
    verb.add_argument("directory", type=Path, metavar="RUN_DIR")
    return verb


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    chosen = parser().parse_args(arguments)
    try:
        for line in commands.COMMANDS[chosen.command](chosen):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    except (ValueError, OSError, TimingError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
