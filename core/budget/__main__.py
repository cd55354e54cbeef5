"""The command line of a budget: `python -m core.budget train|serve|fits MODEL`."""

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Final

from core.budget.command_line import commands
from core.budget.command_line.settings import NAMES, model_notes
from core.budget.training.memory import not_counted
from core.language import LANGUAGES, install_provider

WORDS = (
    ("train", "the bytes of training on the most loaded device"),
    ("serve", "the bytes of serving on one device"),
    ("fits", "on which devices the model fits, in every way"),
)
EXAMPLES: Final[Mapping[str, str]] = {
    "train": "--set device=a100-80gb --set num_devices=8 --set zero_stage=3 --set seq_len=8192",
    "serve": "--set device=l4 --set weight_format=int4_group128 --set concurrency=8",
    "fits": "--set seq_len=8192 --set checkpointing=full --set lora_rank=16",
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m core.budget", description=__doc__)
    verbs = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, words in WORDS:
        verb = verbs.add_parser(
            name,
            help=words,
            description=f"Print {words}.",
            epilog=f"Settings: {', '.join(sorted(NAMES[name]))}. Example: {EXAMPLES[name]}",
        )
        verb.add_argument("model", metavar="MODEL", help="llama-2-7b, ... or a config.json")
        verb.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", dest="settings"
        )
        verb.add_argument("--lang", choices=LANGUAGES, default="en", help="language of the words")
        shape = verb.add_mutually_exclusive_group()
        shape.add_argument("--json", action="store_true", help="print everything, as JSON")
        shape.add_argument("--markdown", action="store_true", help="print a Markdown table")
    return top


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    chosen = parser().parse_args(arguments)
    install_provider(lambda: str(chosen.lang))
    try:
        for line in commands.COMMANDS[chosen.command](chosen):
            sys.stdout.write(line + "\n")
        sys.stdout.flush()
        beside = (not_counted(),) if chosen.command == "train" else ()
        for note in (*model_notes(chosen.model), *beside):
            sys.stderr.write(f"{note}\n")
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    finally:
        install_provider(None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
