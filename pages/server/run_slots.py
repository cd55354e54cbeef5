"""A few pages are computed at a time, in the order in which they were asked for.

Python computes one page at a time anyway. Thirty that share it all come last; in a line the first
comes at once and nobody later, and the live stream waits for two others instead of thirty.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

NUM_SLOTS: Final = 2
PATIENCE: Final = 2.0  # seconds: a page that takes long holds its slot, but nobody else for longer


class Line:
    """Slots that are handed to whoever waits longest. A semaphore gives them to who comes first."""

    def __init__(self, num_slots: int, patience: float) -> None:
        self._num_free = num_slots
        self._patience = patience
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def slot(self, *, waits: bool = True) -> Iterator[None]:
        """Wait for a slot, at most for the patience; give it back however the block ends.

        Args:
            waits: False for who goes past the line and takes no slot: a class's teacher.
        """
        is_held = waits and self._take()
        try:
            yield
        finally:
            if is_held:
                self._give_back()

    def _take(self) -> bool:
        with self._lock:
            if self._num_free:
                self._num_free -= 1
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        turn.wait(self._patience)
        with self._lock:
            if not turn.is_set():
                self._waiting.remove(turn)
            return turn.is_set()

    def _give_back(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._num_free += 1


run_slot: Final = Line(NUM_SLOTS, PATIENCE).slot
