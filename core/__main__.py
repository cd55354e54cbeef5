"""The command line of sizing: `python -m core train|serve|fits MODEL`, `... explain FILE`."""

import sys
from collections.abc import Mapping
from typing import Any

from core.budget import __main__ as sizing
from core.budget.diagnosis.brought.read import MAX_BYTES
from core.language import _
from core.train.profiler.trace import is_trace, read_trace
from core.train.profiler.verdict import trace_sentence, verdict_of
from core.units import MIB


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    return sizing.main(arguments, of_trace)


def of_trace(content: bytes) -> Mapping[str, Any] | None:
    """Return what a trace of torch.profiler says; None if it is none."""
    if not is_trace(content):
        return None
    if len(content) > MAX_BYTES:
        text = _("The trace has more than {most} MiB: profile fewer steps, or pack it with gzip.")
        raise ValueError(text.format(most=MAX_BYTES // MIB))
    profile = read_trace(content)
    return {"sentence": trace_sentence(profile), "notes": [verdict_of(profile.spans)[1]]}


if __name__ == "__main__":
    sys.exit(main())
