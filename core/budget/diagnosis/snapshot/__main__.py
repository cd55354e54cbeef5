"""Print as one line of JSON what a memory snapshot says: `python -m ... BYTES < SNAPSHOT`."""

import gc
import json
import os
import pickle
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from typing import Any, BinaryIO, Final, NoReturn

from core.budget.diagnosis.snapshot.answer import MAX_SECONDS
from core.budget.diagnosis.snapshot.history import summarize
from core.budget.diagnosis.snapshot.stacks import MAX_NAME, text

_LOOK_SECONDS: Final = 0.2
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


def end_with_parent() -> None:
    """End this process once that which started it is gone; Windows does not tell."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def answer(file: BinaryIO) -> dict[str, Any]:
    """Return what a file says, or its problem."""
    try:
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


def main(memory: str) -> None:
    """Print the answer within so many bytes of memory."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    gc.disable()  # a million small objects are built, and none of them is garbage
    limit(int(memory))
    try:
        line = json.dumps(answer(sys.stdin.buffer))
    except MemoryError:
        line = json.dumps({"problem": "memory"})
    sys.stdout.write(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
