"""A few pages are computed at a time, in the order in which they were asked for.

Python computes one page at a time anyway. Thirty that share it all come last; in a line the first
comes at once and nobody later, and the live stream waits for three others instead of thirty.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

NUM_SLOTS: Final = 3
PATIENCE: Final = 2.0  # seconds: a page that takes long holds its slot, but nobody else for longer
_slots: Final = threading.BoundedSemaphore(NUM_SLOTS)


@contextmanager
def run_slot() -> Iterator[None]:
    """Wait for a free slot, at most for `PATIENCE`; give it back however the run ends."""
    is_held = _slots.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if is_held:
            _slots.release()
