"""What the allocator of a GPU does in one step, as torch's own memory snapshot."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import torch

MAX_EVENTS: Final = 100_000  # the newest; with stacks of sixty frames some 32 MB


@contextmanager
def recorded(path: Path) -> Iterator[None]:
    """Write every allocation of the block to a file, which is there only when it is whole.

    Raises:
        OSError: The disk does not take it; what was done in the block is done.
    """
    memory, part = torch.cuda.memory, path.with_suffix(".part")
    memory._record_memory_history(max_entries=MAX_EVENTS)
    try:
        yield
        memory._dump_snapshot(str(part))
        part.replace(path)
    finally:
        memory._record_memory_history(enabled=None)
        part.unlink(missing_ok=True)  # what a full disk took of it
