"""Print as one line of JSON what a memory snapshot says: `python -m ... PATH BYTES_OF_MEMORY`."""

import gc
import json
import pickle
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NoReturn

from core.budget.diagnosis.snapshot.answer import MAX_SECONDS
from core.budget.diagnosis.snapshot.history import summarize
from core.budget.diagnosis.snapshot.stacks import MAX_NAME, text

# What a damaged pickle makes of the unpickler, and another dict of what goes through it.
_DAMAGE: Final = (
    pickle.UnpicklingError, EOFError, ArithmeticError, AttributeError, ImportError, LookupError,
    RecursionError, TypeError, ValueError,
)  # fmt: skip


class CodeInPickleError(ValueError):
    """The pickle names a class or a function."""


class DataUnpickler(pickle.Unpickler):
    """Builds dicts, lists, numbers and texts: what could be called never comes to it."""

    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse every name."""
        raise CodeInPickleError(f"{module}.{name}")


def limit(num_bytes: int) -> None:
    """Let this process have no more address space, nor go on for long.

    Windows has no such limits, macOS does not keep that of memory.
    """
    if sys.platform == "win32":
        return
    import resource

    # Who started it ends it before that, unless it is gone itself.
    for kind, most in ((resource.RLIMIT_AS, num_bytes), (resource.RLIMIT_CPU, 2 * MAX_SECONDS)):
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


def answer(path: Path) -> dict[str, Any]:
    """Return what a file says, or its problem."""
    try:
        with path.open("rb") as file:
            dump = DataUnpickler(file).load()
    except CodeInPickleError as error:
        return {"problem": "globals", "name": text(str(error))[:MAX_NAME]}
    except _DAMAGE:
        return {"problem": "broken"}
    try:
        if dump["segments"] == []:
            return {"problem": "empty"}
        told = summarize(dump)
        return asdict(told) if told.reserved or told.points else {"problem": "empty"}
    except _DAMAGE:
        return {"problem": "fields"}


def main(path: str, memory: str) -> None:
    """Print the answer within so many bytes of memory."""
    gc.disable()  # a million small objects are built, and none of them is garbage
    limit(int(memory))
    try:
        line = json.dumps(answer(Path(path)))
    except MemoryError:
        line = json.dumps({"problem": "memory"})
    sys.stdout.write(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
