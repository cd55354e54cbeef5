"""A few pages are computed at a time, in the order in which they were asked for.

Python computes one page at a time anyway. Thirty that share it all come last; in a line the first
comes at once and nobody later, and the live stream waits for two others instead of thirty.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

NUM_SLOTS: Final = 2
PATIENCE: Final = 2.0  # seconds: a page that takes long holds its slot, but nobody else for longer
LONGEST: Final = 60.0  # seconds: a slot that is held for longer is given to the next who asks


class Line:
    """Slots that are handed to whoever waits longest. A semaphore gives them to who comes first."""

    def __init__(self, num_slots: int, patience: float, longest: float = LONGEST) -> None:
        self._num_slots, self._patience, self._longest = num_slots, patience, longest
        self._held_since: dict[threading.Event, float] = {}
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def slot(self, *, waits: bool = True) -> Iterator[None]:
        """Wait for a slot, at most for the patience; give it back however the block ends.

        A class's teacher does not wait, and takes no slot.
        """
        turn = threading.Event()
        if waits:
            self._take(turn)
        try:
            yield
        finally:
            self._give_back(turn)

    def _take(self, turn: threading.Event) -> None:
        now = time.monotonic()
        with self._lock:
            held = self._held_since.items()
            self._held_since = {each: at for each, at in held if now - at < self._longest}
            if len(self._held_since) < self._num_slots:
                self._held_since[turn] = now
                return
            self._waiting.append(turn)
        turn.wait(self._patience)
        with self._lock:
            if not turn.is_set():
                self._waiting.remove(turn)

    def _give_back(self, turn: threading.Event) -> None:
        with self._lock:
            had_one = self._held_since.pop(turn, None) is not None
            if had_one and self._waiting:
                following = self._waiting.popleft()
                self._held_since[following] = time.monotonic()
                following.set()


run_slot: Final = Line(NUM_SLOTS, PATIENCE).slot
