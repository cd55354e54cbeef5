"""The command line of a budget: `python -m core.budget train|serve|fits MODEL`."""

import argparse
import sys

from core.budget import commands

WORDS = (
    ("train", "the bytes of training on the most loaded device"),
    ("serve", "the bytes of serving on one device"),
    ("fits", "on which devices the model fits, in every way"),
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m core.budget", description=__doc__)
    verbs = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, words in WORDS:
        verb = verbs.add_parser(name, help=words)
        verb.add_argument("model", metavar="MODEL", help="llama-2-7b, ... or a config.json")
        verb.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", dest="settings"
        )
        shape = verb.add_mutually_exclusive_group()
        shape.add_argument("--json", action="store_true", help="print everything, as JSON")
        shape.add_argument("--markdown", action="store_true", help="print a Markdown table")
    return top


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    chosen = parser().parse_args(arguments)
    try:
        for line in commands.COMMANDS[chosen.command](chosen):
            sys.stdout.write(line + "\n")
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
