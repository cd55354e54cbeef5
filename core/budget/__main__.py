"""The command line: `python -m core train|serve|fits MODEL`, `python -m core explain FILE`."""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from core.budget.command_line import commands, explained
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

MODEL_HELP: Final[Mapping[str, str]] = {
    "": "llama-2-7b, ... or a config.json",
    "fits": "llama-2-7b, ... or a config.json; with --on a recipe, or - for standard input",
}
OF_HELP: Final = "the model that it is of, where the file does not say: a name or a config.json"
EXPLAIN: Final = (
    "what an out-of-memory error, a log, a recipe, a config.json, a checkpoint's header, a memory "
    "snapshot or a trace of torch.profiler says"
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m core", description=__doc__)
    verbs = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, words in WORDS:
        verb = verbs.add_parser(
            name,
            help=words,
            description=f"Print {words}.",
            epilog=f"Settings: {', '.join(sorted(NAMES[name]))}. Example: {EXAMPLES[name]}",
        )
        verb.add_argument("model", metavar="MODEL", help=MODEL_HELP.get(name, MODEL_HELP[""]))
        shape = _common(verb)
        shape.add_argument("--markdown", action="store_true", help="print a Markdown table")
        if name == "fits":
            verb.add_argument(
                "--on", metavar="DEVICE:COUNT", default="", help="h100-sxm:8, for a recipe"
            )
            verb.add_argument("--of", metavar="MODEL", default="", help=OF_HELP)
    verb = verbs.add_parser("explain", help=EXPLAIN, description=f"Say {EXPLAIN}.")
    verb.add_argument("file", metavar="FILE", help="a file, or - for standard input")
    verb.add_argument("--of", metavar="MODEL", default="", help=OF_HELP)
    _common(verb)
    return top


def _common(verb: argparse.ArgumentParser) -> "argparse._MutuallyExclusiveGroup":
    verb.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    verb.add_argument("--lang", choices=LANGUAGES, default="en", help="language of the words")
    shape = verb.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print everything, as JSON")
    return shape


def main(arguments: list[str] | None = None, also: explained.Also = lambda _file: None) -> int:
    """Do what the command line says; return the exit status."""
    chosen = parser().parse_args(arguments)
    install_provider(lambda: str(chosen.lang))
    status = 0
    try:
        status = _print(chosen, also)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    finally:
        install_provider(None)
    return status


def _print(chosen: argparse.Namespace, also: explained.Also) -> int:
    """Print what the command says; return 1 where a recipe does not fit, else 0."""
    lines: Iterable[str]
    notes: Iterable[str] = ()
    if chosen.command == "explain":
        lines, status = explained.explain(chosen, also)
    elif getattr(chosen, "on", ""):
        lines, status = explained.fits_on(chosen)
    else:
        lines, status = commands.COMMANDS[chosen.command](chosen), 0
        beside = (not_counted(),) if chosen.command == "train" else ()
        notes = (*model_notes(chosen.model), *beside)
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    for note in notes:
        sys.stderr.write(f"{note}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
