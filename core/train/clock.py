"""The time that a run is written down in: the wall clock's, but never backwards."""

import time


class RunClock:
    """Gives unix times that only grow, so that no rate is negative and no time left absurd.

    A clock set forwards, or a laptop that slept, is followed. When the clock is set back, the
    run's time goes on from where it was.
    """

    def __init__(self, not_before: float = 0.0) -> None:
        """Begin at the present, or at `not_before` (unix seconds) if that is later."""
        self._shift = 0.0
        self._last, self._last_monotonic = not_before, time.monotonic()

    def now(self) -> float:
        """Return the run's unix time in seconds."""
        monotonic, wall = time.monotonic(), time.time() + self._shift
        if wall < self._last:
            behind = self._last + (monotonic - self._last_monotonic) - wall
            self._shift += behind
            wall += behind
        self._last, self._last_monotonic = wall, monotonic
        return wall
