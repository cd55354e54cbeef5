"""Print as lines of JSON what a memory snapshot says: `python -m ... BYTES PARENT < SNAPSHOT`."""

import gc
import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final, NoReturn

from core.budget.diagnosis.snapshot.answer import MAX_SECONDS
from core.budget.diagnosis.snapshot.history import summaries
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


def end_with_parent(parent: int) -> None:
    """End this process once that which started it is gone; Windows does not tell."""
    while sys.platform == "win32" or os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def answers(reader: DataUnpickler) -> Iterator[dict[str, Any]]:
    """Yield what a file says, of a long recording the segments alone before; or its problem."""
    problem = "broken"
    try:
        dump = reader.load()
        problem = "fields"
        if dump["segments"] == []:
            yield {"problem": "empty"}
        else:
            for told in summaries(dump):
                yield asdict(told) if told.reserved or told.points else {"problem": "empty"}
    except CodeInPickleError as error:
        yield {"problem": "globals", "name": text(str(error))[:MAX_NAME]}
    except _DAMAGE:
        yield {"problem": problem}


def main(memory: str, parent: str) -> None:
    """Print the answers within so many bytes of memory, to the process of that number."""
    threading.Thread(target=end_with_parent, args=(int(parent),), daemon=True).start()
    gc.disable()  # a million small objects are built, and none of them is garbage
    limit(int(memory))
    reader = DataUnpickler(sys.stdin.buffer)  # it holds what it has built
    with suppress(MemoryError):
        for each in answers(reader):
            print(json.dumps(each), flush=True)  # noqa: T201  this is its answer
        os._exit(0)  # to free it all piece by piece takes a third of a second
    del reader
    print(json.dumps({"problem": "memory"}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
