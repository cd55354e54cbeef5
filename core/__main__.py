"""The command line of sizing: `python -m core train|serve|fits MODEL`, `... explain FILE`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.budget import __main__ as sizing
from core.train.profiler.trace import is_trace, read_trace, trace_sentence, verdict_of
from core.units import MIB


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    return sizing.main(arguments, of_trace)


def of_trace(file: Path) -> Mapping[str, Any] | None:
    """Return what a trace of torch.profiler says, of any length; None if it is none."""
    with file.open("rb") as opened:
        begin = opened.read(MIB)
        if not is_trace(begin):
            return None
        profile = read_trace(begin + opened.read())
    return {"sentence": trace_sentence(profile), "notes": [verdict_of(profile.spans)[1]]}


if __name__ == "__main__":
    sys.exit(main())
